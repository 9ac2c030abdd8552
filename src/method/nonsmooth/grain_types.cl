// What the host and OpenCL devices call by the same name; both include this.
#ifndef HINGE_GRAIN_TYPES
#define HINGE_GRAIN_TYPES

#define MOST_COLOURS 64  // the last one takes what fits nowhere, and is one worker's

// Of the coarse level, grain_coarse.cl.
#define COARSE_EDGE 2      // blocks along the edge of a coarse cell
#define COARSE_SUMS 44     // of a block or a coarse cell: the upper triangle of 8 x 8, and 8 of the right-hand side
#define STRESS_NUMBERS 20  // of a grain: 3 x (force, torque), work; one more fills up

typedef struct {
  double x, y, z, width;  // the corner, and the width of a cell
  int nx, ny, nz;         // cells: multiples of two blocks
  int bx, by, bz;         // blocks
  int shift;              // 2^shift cells along an edge of a block, at least two
} GrainGrid;

#define WALL_PLANE 0
#define WALL_ORIFICE 1
#define WALL_DRUM 2

typedef struct {
  double x, y, z, offset;  // n.x = offset; of a drum, n is the axis
  double friction, restitution;
  double cx, cy, cz, radius;  // of a hole, or of a drum
  int kind, unused;
} GrainPlane;

#endif
