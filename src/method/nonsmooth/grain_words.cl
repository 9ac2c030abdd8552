// The words of grain_kernels.cl on OpenCL devices; SINGLE is 1 for mixed precision.
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL FP_CONTRACT OFF

typedef double4 Wide4;
typedef int2 Int2;
#if SINGLE
typedef float4 Real4;
#define REAL float
#define real4_of(a, b, c, d) ((float4)(a, b, c, d))
#else
typedef double4 Real4;
#define REAL double
#define real4_of(a, b, c, d) ((double4)(a, b, c, d))
#endif
#define wide4_of(a, b, c, d) ((double4)(a, b, c, d))
#define int2_of(a, b) ((int2)(a, b))
#define WIDE double
#define TRUTH int
#define none(x) (!(x))
#define FUNCTION static
#define GLOBAL global
#define CONSTANT constant
#define LOCAL local
