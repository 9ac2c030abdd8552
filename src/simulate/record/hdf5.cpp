// Calls of HDF5, each checked, one thread at a time.
#ifdef HINGE_HAVE_HDF5

#include "simulate/record/hdf5.hpp"

#include <cerrno>
#include <cstdlib>
#include <mutex>
#include <string_view>

#include <fcntl.h>
#include <unistd.h>

#include <fmt/format.h>

#include "simulate/record/output_file.hpp"

namespace hinge::hdf5 {

namespace {

std::recursive_mutex one_at_a_time;

/// What HDF5's innermost error says. A failed system call is spelled "... errno = 28, ..." there.
struct Cause {
  int system_error = 0;
  std::string text;
};

Cause last_cause() {
  Cause cause;
  const auto take_first = [](unsigned n, const H5E_error2_t* error, void* data) -> herr_t {
    if (n == 0 && error->desc != nullptr) static_cast<Cause*>(data)->text = error->desc;
    return 0;
  };
  h5().H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take_first, &cause);
  constexpr std::string_view mark = "errno = ";
  if (const std::size_t at = cause.text.find(mark); at != std::string::npos)
    cause.system_error = std::atoi(cause.text.c_str() + at + mark.size());
  return cause;
}

template <typename Number>
hid_t type_of() {
  return std::is_same_v<Number, int> ? *h5().H5T_NATIVE_INT_g : *h5().H5T_NATIVE_DOUBLE_g;
}

std::vector<const char*> pointers(std::span<const std::string> texts) {
  std::vector<const char*> list;
  for (const std::string& text : texts) list.push_back(text.c_str());
  return list;
}

}  // namespace

Session::Session() {
  h5();  // may not be there
  one_at_a_time.lock();
  h5().H5Eget_auto2(H5E_DEFAULT, &function_, &data_);
  h5().H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

Session::~Session() {
  h5().H5Eset_auto2(H5E_DEFAULT, function_, data_);
  one_at_a_time.unlock();
}

herr_t Handle::close() {
  const hid_t id = std::exchange(id_, -1);
  if (id < 0) return 0;
  const Session session;
  return close_(id);
}

void require_system_opens(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) throw cannot_read(path, errno);
  ::close(fd);
}

File::File(std::string path, Purpose purpose) : path_(std::move(path)), purpose_(purpose) {
  inside_ = check(h5().H5Pcreate(*h5().H5P_CLS_DATASET_ACCESS_ID_g), h5().H5Pclose, "set up the file");
  const auto refuse = [](const char*, const char*, const char*, const char*, unsigned*, hid_t, void*) -> herr_t {
    return -1;
  };
  check(h5().H5Pset_elink_cb(inside_, refuse, nullptr), "set up the file");
  const char* name = path_.c_str();
  if (purpose == Purpose::reading) {
    require_system_opens(path_);
    file_ = check(h5().H5Fopen(name, read_only, H5P_DEFAULT), h5().H5Fclose, "open the file");
    return;
  }
  const Handle access = check(h5().H5Pcreate(*h5().H5P_CLS_FILE_ACCESS_ID_g), h5().H5Pclose, "set up the file");
  constexpr std::size_t growth = 1 << 16;
  check(h5().H5Pset_fapl_core(access, growth, false), "set up the file");
  file_ = check(h5().H5Fcreate(name, truncate, H5P_DEFAULT, access), h5().H5Fclose, "create the file");
}

void File::save() const {
  check(h5().H5Fflush(file_, H5F_SCOPE_GLOBAL), "write the file");
  const ssize_t size = check(h5().H5Fget_file_image(file_, nullptr, 0), "write the file");
  std::string image(static_cast<std::size_t>(size), '\0');
  check(h5().H5Fget_file_image(file_, image.data(), image.size()), "write the file");
  write_whole(path_, image);
}

void File::fail(const char* deed) const {
  const auto [system_error, text] = last_cause();
  const std::string reason = fmt::format("HDF5 could not {} ({})", deed, text);
  if (purpose_ == Purpose::writing)
    throw system_error != 0 ? cannot_write(path_, system_error) : cannot_write(path_, reason);
  throw system_error != 0 ? cannot_read(path_, system_error) : cannot_read(path_, reason);
}

// ---- Reading ------------------------------------------------------------------------------------------------------

// Every part of the path has to be asked for by itself.
bool File::has(const std::string& name) const {
  for (std::size_t at = name.find('/'); at != std::string::npos; at = name.find('/', at + 1))
    if (check(h5().H5Lexists(file_, name.substr(0, at).c_str(), inside_), "look for a part of it") == 0) return false;
  return check(h5().H5Lexists(file_, name.c_str(), inside_), "look for a part of it") > 0;
}

// Links to other files were refused on the way; the numbers themselves may be elsewhere, too.
void File::require_own(hid_t data, const std::string& name) const {
  const Handle made = check(h5().H5Dget_create_plist(data), h5().H5Pclose, "read its layout");
  if (check(h5().H5Pget_layout(made), "read its layout") != H5D_VIRTUAL && h5().H5Pget_external_count(made) == 0)
    return;
  throw fault(fmt::format("'{}' is kept in another file; put its numbers into this one", name));
}

// A damaged file may claim anything. Numbers compressed by HDF5's own filters take a thousandth of their size at least;
// those that were never written, and are zero, take nothing, but nobody leaves out millions of them.
void File::require_held(hid_t data, const std::string& name) const {
  constexpr double unwritten = 1 << 24, compression = 2000;
  const Handle space = check(h5().H5Dget_space(data), h5().H5Sclose, "read its shape");
  const Handle type = check(h5().H5Dget_type(data), h5().H5Tclose, "read its type");
  const auto count = static_cast<double>(check(h5().H5Sget_simple_extent_npoints(space), "read its shape"));
  const double claimed = count * static_cast<double>(h5().H5Tget_size(type));
  if (claimed > unwritten + compression * static_cast<double>(h5().H5Dget_storage_size(data)))
    throw fault(fmt::format("'{}' claims {:g} entries and holds far fewer", name, count));
}

Handle File::open_data(const std::string& name) const {
  if (!has(name)) throw fault(fmt::format("there is no '{}' in it", name));
  Handle data(h5().H5Dopen2(file_, name.c_str(), inside_), h5().H5Dclose);
  if (!data.open())
    throw fault(fmt::format(
        "'{}' should be numbers or a text, and is something else (a group? a link to another file?)", name));
  require_own(data, name);
  require_held(data, name);
  return data;
}

std::vector<hsize_t> File::shape(hid_t data) const {
  const Handle space = check(h5().H5Dget_space(data), h5().H5Sclose, "read its shape");
  std::vector<hsize_t> extent(
      static_cast<std::size_t>(check(h5().H5Sget_simple_extent_ndims(space), "read its shape")));
  check(h5().H5Sget_simple_extent_dims(space, extent.data(), nullptr), "read its shape");
  return extent;
}

template <typename Number>
std::vector<Number> File::read(const std::string& name, hssize_t most) const {
  const Handle data = open_data(name);
  const Handle space = check(h5().H5Dget_space(data), h5().H5Sclose, "read its shape");
  const hssize_t n = check(h5().H5Sget_simple_extent_npoints(space), "read its shape");
  if (n > most) throw fault(fmt::format("'{}' is too long", name));
  std::vector<Number> x(static_cast<std::size_t>(n));
  if (n > 0 && h5().H5Dread(data, type_of<Number>(), H5S_ALL, H5S_ALL, H5P_DEFAULT, x.data()) < 0)
    throw fault(fmt::format("'{}' cannot be read as {}numbers", name, std::is_same_v<Number, int> ? "whole " : ""));
  return x;
}
template std::vector<double> File::read(const std::string&, hssize_t) const;
template std::vector<int> File::read(const std::string&, hssize_t) const;

/// Through `read(type, buffer)`, which is H5Aread or H5Dread.
template <typename Read>
std::vector<std::string> File::read_texts(hid_t type, hid_t space, Read read) const {
  std::vector<std::string> texts;
  if (check(h5().H5Tget_class(type), "read a text") != H5T_STRING) return texts;
  const auto count = static_cast<std::size_t>(check(h5().H5Sget_simple_extent_npoints(space), "read a text"));
  const std::size_t size = h5().H5Tget_size(type);
  constexpr std::size_t most = std::size_t{1} << 28;  // bytes; a damaged file may claim anything
  if (size > 0 && count > most / size) throw fault("a text in it is too long");
  if (check(h5().H5Tis_variable_str(type), "read a text") > 0) {
    std::vector<char*> buffer(count, nullptr);
    check(read(type, buffer.data()), "read a text");
    for (const char* text : buffer) texts.emplace_back(text == nullptr ? "" : text);
    check(h5().H5Dvlen_reclaim(type, space, H5P_DEFAULT, buffer.data()), "release a text");
    return texts;
  }
  std::string buffer(count * size, '\0');
  check(read(type, buffer.data()), "read a text");
  for (std::size_t k = 0; k < count; ++k) texts.emplace_back(buffer.substr(k * size, size).c_str());
  return texts;
}

std::vector<std::string> File::texts(const std::string& name) const {
  const Handle data = open_data(name);
  const Handle type = check(h5().H5Dget_type(data), h5().H5Tclose, "read a text");
  const Handle space = check(h5().H5Dget_space(data), h5().H5Sclose, "read a text");
  return read_texts(type, space,
                    [&](hid_t as, void* to) { return h5().H5Dread(data, as, H5S_ALL, H5S_ALL, H5P_DEFAULT, to); });
}

std::vector<std::string> File::attribute(hid_t attribute) const {
  const Handle type = check(h5().H5Aget_type(attribute), h5().H5Tclose, "read an attribute");
  const Handle space = check(h5().H5Aget_space(attribute), h5().H5Sclose, "read an attribute");
  return read_texts(type, space, [&](hid_t as, void* to) { return h5().H5Aread(attribute, as, to); });
}

// ---- Writing ------------------------------------------------------------------------------------------------------

Handle File::text_type() const {
  Handle type = check(h5().H5Tcopy(*h5().H5T_C_S1_g), h5().H5Tclose, "make a string type");
  check(h5().H5Tset_size(type, H5T_VARIABLE), "make a string type");
  check(h5().H5Tset_cset(type, H5T_CSET_UTF8), "make a string type");
  return type;
}

Handle File::space(std::size_t size, Shape shape) const {
  const hsize_t extent = size;
  return shape == Shape::one ? check(h5().H5Screate(H5S_SCALAR), h5().H5Sclose, "make a scalar")
                             : check(h5().H5Screate_simple(1, &extent, nullptr), h5().H5Sclose, "make a list");
}

// Nothing is written where there is nothing: `data` of an empty list may be no address.
void File::put(const std::string& name, hid_t type, hid_t space, const void* data) const {
  const Handle folders = check(h5().H5Pcreate(*h5().H5P_CLS_LINK_CREATE_ID_g), h5().H5Pclose, "set up a part of it");
  check(h5().H5Pset_create_intermediate_group(folders, 1), "set up a part of it");
  const Handle properties =
      check(h5().H5Pcreate(*h5().H5P_CLS_DATASET_CREATE_ID_g), h5().H5Pclose, "set up a part of it");
  check(h5().H5Pset_obj_track_times(properties, false), "switch off time stamps");
  const Handle set = check(h5().H5Dcreate2(file_, name.c_str(), type, space, folders, properties, H5P_DEFAULT),
                           h5().H5Dclose, "create a part of it");
  if (check(h5().H5Sget_simple_extent_npoints(space), "write a part of it") == 0) return;
  check(h5().H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data), "write a part of it");
}

template <typename Number>
void File::write(const std::string& name, std::span<const Number> numbers) const {
  put(name, type_of<Number>(), space(numbers.size()), numbers.data());
}
template void File::write(const std::string&, std::span<const double>) const;
template void File::write(const std::string&, std::span<const int>) const;

void File::write_text(const std::string& name, const std::string& text) const {
  const Handle type = check(h5().H5Tcopy(*h5().H5T_C_S1_g), h5().H5Tclose, "make a string type");
  check(h5().H5Tset_size(type, text.size() + 1), "make a string type");
  put(name, type, space(1, Shape::one), text.c_str());
}

void File::write_texts(const std::string& name, std::span<const std::string> texts, Shape shape) const {
  put(name, text_type(), space(texts.size(), shape), pointers(texts).data());
}

void File::write_attribute(hid_t owner, const std::string& name, std::span<const std::string> texts,
                           Shape shape) const {
  const Handle type = text_type();
  const Handle attribute =
      check(h5().H5Acreate2(owner, name.c_str(), type, space(texts.size(), shape), H5P_DEFAULT, H5P_DEFAULT),
            h5().H5Aclose, "create an attribute");
  check(h5().H5Awrite(attribute, type, pointers(texts).data()), "write an attribute");
}

}  // namespace hinge::hdf5

#endif
