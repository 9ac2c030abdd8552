// What the host and OpenCL devices call by the same name; both include this.
#ifndef HINGE_GRAIN_TYPES
#define HINGE_GRAIN_TYPES

#define BLOCK 4          // cells along an edge of a block
#define CELLS 64         // in a block
#define MOST_COLOURS 64  // the last one takes what fits nowhere, and is one worker's

typedef struct {
  double x, y, z, width;  // the corner, and the width of a cell
  int nx, ny, nz;         // cells: multiples of 2 BLOCK
  int bx, by, bz;         // blocks
} GrainGrid;

typedef struct {
  double x, y, z, offset;  // n.x = offset
  double friction;
} GrainPlane;

#endif
