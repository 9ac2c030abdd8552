#include "method/nonsmooth/opencl.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "hinge/error.hpp"

#ifdef HINGE_HAVE_OPENCL

#include <dlfcn.h>

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

namespace hinge::opencl {

namespace {

/// What is used of OpenCL 1.2.
struct Functions {
  decltype(&clGetPlatformIDs) get_platforms;
  decltype(&clGetPlatformInfo) platform_info;
  decltype(&clGetDeviceIDs) get_devices;
  decltype(&clGetDeviceInfo) device_info;
  decltype(&clCreateContext) create_context;
  decltype(&clCreateCommandQueue) create_queue;
  decltype(&clCreateProgramWithSource) create_program;
  decltype(&clBuildProgram) build;
  decltype(&clGetProgramBuildInfo) build_info;
  decltype(&clCreateKernel) create_kernel;
  decltype(&clSetKernelArg) set_argument;
  decltype(&clCreateBuffer) create_buffer;
  decltype(&clReleaseMemObject) release_buffer;
  decltype(&clEnqueueNDRangeKernel) run;
  decltype(&clEnqueueReadBuffer) read;
  decltype(&clEnqueueWriteBuffer) write;
  decltype(&clFinish) finish;
  decltype(&clReleaseKernel) release_kernel;
  decltype(&clReleaseProgram) release_program;
  decltype(&clReleaseCommandQueue) release_queue;
  decltype(&clReleaseContext) release_context;
  decltype(&clGetEventProfilingInfo) event_time;
  decltype(&clReleaseEvent) release_event;
  std::string trouble;
};

template <class F>
void look_up(void* library, const char* name, F& function, std::string& trouble) {
  function = reinterpret_cast<F>(dlsym(library, name));
  if (!function) trouble = fmt::format("libOpenCL.so.1 has no {}; OpenCL 1.2 or later is needed", name);
}

const Functions& functions() {
  static const Functions table = [] {
    Functions f{};
    void* library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);  // stays open: drivers do not like to be closed
    if (!library) {
      f.trouble =
          "libOpenCL.so.1 was not found; install a driver with OpenCL (on Debian 12, for the processor: apt-get "
          "install ocl-icd-libopencl1 pocl-opencl-icd)";
      return f;
    }
    std::string& t = f.trouble;
    look_up(library, "clGetPlatformIDs", f.get_platforms, t);
    look_up(library, "clGetPlatformInfo", f.platform_info, t);
    look_up(library, "clGetDeviceIDs", f.get_devices, t);
    look_up(library, "clGetDeviceInfo", f.device_info, t);
    look_up(library, "clCreateContext", f.create_context, t);
    look_up(library, "clCreateCommandQueue", f.create_queue, t);
    look_up(library, "clCreateProgramWithSource", f.create_program, t);
    look_up(library, "clBuildProgram", f.build, t);
    look_up(library, "clGetProgramBuildInfo", f.build_info, t);
    look_up(library, "clCreateKernel", f.create_kernel, t);
    look_up(library, "clSetKernelArg", f.set_argument, t);
    look_up(library, "clCreateBuffer", f.create_buffer, t);
    look_up(library, "clReleaseMemObject", f.release_buffer, t);
    look_up(library, "clEnqueueNDRangeKernel", f.run, t);
    look_up(library, "clEnqueueReadBuffer", f.read, t);
    look_up(library, "clEnqueueWriteBuffer", f.write, t);
    look_up(library, "clFinish", f.finish, t);
    look_up(library, "clReleaseKernel", f.release_kernel, t);
    look_up(library, "clReleaseProgram", f.release_program, t);
    look_up(library, "clReleaseCommandQueue", f.release_queue, t);
    look_up(library, "clReleaseContext", f.release_context, t);
    look_up(library, "clGetEventProfilingInfo", f.event_time, t);
    look_up(library, "clReleaseEvent", f.release_event, t);
    return f;
  }();
  return table;
}

std::string text_of(cl_device_id device, cl_device_info what) {
  std::size_t size = 0;
  functions().device_info(device, what, 0, nullptr, &size);
  std::string text(size, '\0');
  functions().device_info(device, what, size, text.data(), nullptr);
  while (!text.empty() && (text.back() == '\0' || text.back() == ' ')) text.pop_back();
  return text;
}

bool has_double(cl_device_id device) {
  cl_device_fp_config config = 0;
  functions().device_info(device, CL_DEVICE_DOUBLE_FP_CONFIG, sizeof config, &config, nullptr);
  return config != 0;
}

struct Found {
  cl_device_id device = nullptr;
  std::string trouble;
};

// The first GPU with double precision, else the first device that has it.
Found find_device() {
  Found found;
  const Functions& f = functions();
  found.trouble = f.trouble;
  if (!found.trouble.empty()) return found;
  cl_uint count = 0;
  if (f.get_platforms(0, nullptr, &count) != CL_SUCCESS || count == 0) {
    found.trouble =
        "OpenCL is installed, but no driver for it; install that of the GPU, or (on Debian 12, for the processor) "
        "pocl-opencl-icd";
    return found;
  }
  std::vector<cl_platform_id> platforms(count);
  f.get_platforms(count, platforms.data(), nullptr);
  for (const cl_device_type type : {cl_device_type{CL_DEVICE_TYPE_GPU}, cl_device_type{CL_DEVICE_TYPE_ALL}})
    for (const cl_platform_id platform : platforms) {
      cl_uint devices = 0;
      if (f.get_devices(platform, type, 0, nullptr, &devices) != CL_SUCCESS || devices == 0) continue;
      std::vector<cl_device_id> list(devices);
      f.get_devices(platform, type, devices, list.data(), nullptr);
      for (const cl_device_id device : list)
        if (has_double(device)) {
          found.device = device;
          return found;
        }
    }
  found.trouble = "no OpenCL device of this machine has double precision; use device = \"threads\"";
  return found;
}

void check(cl_int status, const char* what) {
  if (status == CL_SUCCESS) return;
  throw UnsuitableMethod(fmt::format(
      "the OpenCL device failed in {} (status {}); use device = \"threads\", or fewer grains", what, status));
}

}  // namespace

struct Device::Work {
  cl_device_id device{};
  cl_context context{};
  cl_command_queue queue{};
  cl_program program{};
  std::vector<cl_kernel> kernels;
  std::vector<std::vector<std::vector<char>>> arguments;  // of each kernel: those that it has
  std::string name;
  bool correct = false, profile = false;
  double bytes = 0;
  std::vector<GrainKernel> times;
  std::vector<std::pair<std::size_t, cl_event>> events;  // of runs that are not counted yet
};

Device::Device(const std::string& source, const std::string& options, bool profile) : work_(std::make_unique<Work>()) {
  const Found found = find_device();
  if (!found.device) throw UnsuitableMethod("device = \"opencl\": " + found.trouble);
  const Functions& f = functions();
  Work& w = *work_;
  w.device = found.device;
  w.profile = profile;
  w.name = text_of(w.device, CL_DEVICE_NAME);
  cl_int status = 0;
  w.context = f.create_context(nullptr, 1, &w.device, nullptr, nullptr, &status);
  check(status, "making a context");
  w.queue = f.create_queue(w.context, w.device, profile ? CL_QUEUE_PROFILING_ENABLE : 0, &status);
  check(status, "making a queue");
  const char* text = source.c_str();
  w.program = f.create_program(w.context, 1, &text, nullptr, &status);
  check(status, "taking the source");
  cl_device_fp_config single = 0;
  f.device_info(w.device, CL_DEVICE_SINGLE_FP_CONFIG, sizeof single, &single, nullptr);
  w.correct = (single & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT) != 0;
  const std::string all = "-cl-std=CL1.2 " + options + (w.correct ? " -cl-fp32-correctly-rounded-divide-sqrt" : "");
  if (f.build(w.program, 1, &w.device, all.c_str(), nullptr, nullptr) != CL_SUCCESS) {
    std::size_t size = 0;
    f.build_info(w.program, w.device, CL_PROGRAM_BUILD_LOG, 0, nullptr, &size);
    std::string log(size, '\0');
    f.build_info(w.program, w.device, CL_PROGRAM_BUILD_LOG, size, log.data(), nullptr);
    throw UnsuitableMethod(
        fmt::format("the OpenCL compiler of {} refuses Hinge's kernels; use device = \"threads\", and report this: {}",
                    w.name, log.substr(0, 2000)));
  }
}

Device::~Device() {
  const Functions& f = functions();
  if (work_->queue) f.finish(work_->queue);
  for (const cl_kernel k : work_->kernels) f.release_kernel(k);
  if (work_->program) f.release_program(work_->program);
  if (work_->queue) f.release_queue(work_->queue);
  if (work_->context) f.release_context(work_->context);
}

const std::string& Device::name() const { return work_->name; }
bool Device::rounds_correctly() const { return work_->correct; }
double Device::bytes() const { return work_->bytes; }

Buffer::~Buffer() {
  if (memory_) functions().release_buffer(static_cast<cl_mem>(memory_));
}

void Device::room(Buffer& buffer, std::size_t bytes) {
  bytes = std::max<std::size_t>(bytes, 64);
  if (buffer.size_ >= bytes) return;
  const std::size_t size = buffer.size_ == 0 ? bytes : bytes + bytes / 8;
  cl_int status = 0;
  cl_mem memory = functions().create_buffer(work_->context, CL_MEM_READ_WRITE, size, nullptr, &status);
  check(status, "taking memory");
  for (auto& known : work_->arguments) known.clear();  // a new one may be where one was that is gone
  if (buffer.memory_) {
    wait();
    functions().release_buffer(static_cast<cl_mem>(buffer.memory_));
  }
  work_->bytes += static_cast<double>(size - buffer.size_);
  buffer.memory_ = memory;
  buffer.size_ = size;
  buffer.device_ = this;
}

void Device::write(Buffer& buffer, const void* from, std::size_t bytes) {
  room(buffer, bytes);
  if (bytes == 0) return;
  check(functions().write(work_->queue, static_cast<cl_mem>(buffer.memory_), CL_TRUE, 0, bytes, from, 0, nullptr,
                          nullptr),
        "writing to it");
}

void Device::read(const Buffer& buffer, void* to, std::size_t bytes, std::size_t from) {
  if (bytes == 0) return;
  check(functions().read(work_->queue, static_cast<cl_mem>(buffer.memory_), CL_TRUE, from, bytes, to, 0, nullptr,
                         nullptr),
        "reading from it");
}

int Device::kernel(const char* name) {
  cl_int status = 0;
  work_->kernels.push_back(functions().create_kernel(work_->program, name, &status));
  check(status, name);
  work_->arguments.emplace_back();
  work_->times.push_back({name, 0, 0});
  return static_cast<int>(work_->kernels.size()) - 1;
}

void Device::run(int k, std::size_t workers, std::size_t group, std::initializer_list<Argument> arguments) {
  if (workers == 0) return;
  const Functions& f = functions();
  const auto which = static_cast<std::size_t>(k);
  const cl_kernel kernel = work_->kernels[which];
  auto& known = work_->arguments[which];
  known.resize(arguments.size());
  cl_uint i = 0;
  for (const Argument& a : arguments) {  // it keeps those that it was given, and to give them takes time
    std::vector<char>& last = known[i];
    const char* now = static_cast<const char*>(a.value);
    if (last.size() != a.size || !std::equal(last.begin(), last.end(), now)) {
      check(f.set_argument(kernel, i, a.size, a.value), "taking an argument");
      last.assign(now, now + a.size);
    }
    ++i;
  }
  const std::size_t all = (workers + group - 1) / group * group;
  cl_event event = nullptr;
  check(f.run(work_->queue, kernel, 1, nullptr, &all, &group, 0, nullptr, work_->profile ? &event : nullptr),
        "running a kernel");
  if (event) work_->events.emplace_back(which, event);
}

void Device::wait() {
  const Functions& f = functions();
  check(f.finish(work_->queue), "waiting");
  for (const auto& [k, event] : work_->events) {
    cl_ulong start = 0, end = 0;
    f.event_time(event, CL_PROFILING_COMMAND_START, sizeof start, &start, nullptr);
    f.event_time(event, CL_PROFILING_COMMAND_END, sizeof end, &end, nullptr);
    f.release_event(event);
    ++work_->times[k].runs;
    work_->times[k].seconds += 1e-9 * static_cast<double>(end - start);
  }
  work_->events.clear();
}

std::vector<GrainKernel> Device::times() {
  wait();
  return work_->profile ? work_->times : std::vector<GrainKernel>{};
}

std::string missing(std::string* name) {
  const Found found = find_device();
  if (found.device && name) *name = text_of(found.device, CL_DEVICE_NAME);
  return found.trouble;
}

}  // namespace hinge::opencl

#else

namespace hinge::opencl {

namespace {

constexpr const char* not_built =
    "this program was built without the headers of OpenCL; install opencl-headers and build it again, or use device = "
    "\"threads\"";

}  // namespace

struct Device::Work {
  std::string name;
};
Device::Device(const std::string&, const std::string&, bool) {
  throw UnsuitableMethod(fmt::format("device = \"opencl\": {}", not_built));
}
Device::~Device() = default;
const std::string& Device::name() const { return work_->name; }
bool Device::rounds_correctly() const { return false; }
double Device::bytes() const { return 0; }
Buffer::~Buffer() = default;
void Device::room(Buffer&, std::size_t) {}
void Device::write(Buffer&, const void*, std::size_t) {}
void Device::read(const Buffer&, void*, std::size_t, std::size_t) {}
int Device::kernel(const char*) { return 0; }
void Device::run(int, std::size_t, std::size_t, std::initializer_list<Argument>) {}
void Device::wait() {}
std::vector<GrainKernel> Device::times() { return {}; }
std::string missing(std::string*) { return not_built; }

}  // namespace hinge::opencl

#endif
