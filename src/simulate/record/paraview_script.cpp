#include "simulate/record/paraview_script.hpp"

#include <filesystem>

#include <fmt/format.h>

namespace hinge {

namespace {

// A text in Python.
std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) < 0x20)
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    else
      out += c;
  }
  return out + "\"";
}

const char* const script = R"py(

def series(kind):
    reader = PVDReader(registrationName=name + " " + kind, FileName=os.path.join(folder, name + "_" + kind + ".pvd"))
    reader.UpdatePipeline()
    return reader


def size(source, what):
    return getattr(source.GetDataInformation(), "GetNumberOf" + what)()


view = GetActiveViewOrCreate("RenderView")
view.UseColorPaletteForBackground = 0
view.BackgroundColorMode = "Single Color"
view.Background = [1, 1, 1]
view.OrientationAxesVisibility = 0 if flat else 1

# what never moves: seen through
walls = XMLPolyDataReader(registrationName=name + " fixed", FileName=[os.path.join(folder, name + "_fixed.vtp")])
walls.UpdatePipeline()
if size(walls, "Cells") > 0:
    shown = Show(walls, view)
    shown.Opacity = 1 if flat else 0.2
    shown.ColorArrayName = ["POINTS", ""]
    shown.AmbientColor = shown.DiffuseColor = [0.45, 0.47, 0.5]

scene = GetAnimationScene()
surfaces = series("surfaces")
scene.UpdateAnimationUsingDataTimeSteps()
if size(surfaces, "Cells") > 0:
    shown = Show(surfaces, view)
    shown.ColorArrayName = ["POINTS", ""]
    shown.AmbientColor = shown.DiffuseColor = [0.44, 0.62, 0.77]

points = series("points")
if size(points, "Points") > 0 and many:  # too many for surfaces: each is a picture of a sphere
    shown = Show(points, view)
    shown.SetRepresentationType("Point Gaussian")
    shown.ShaderPreset = "Sphere"
    shown.ScaleByArray = 1
    shown.SetScaleArray = ["POINTS", "radius"]
    shown.UseScaleFunction = 0
    shown.GaussianRadius = 1
    spheres = points
elif size(points, "Points") > 0:
    spheres = Glyph(registrationName=name + " spheres", Input=points, GlyphType="Sphere")
    spheres.GlyphMode = "All Points"
    spheres.ScaleArray = ["POINTS", "radius"]
    spheres.ScaleFactor = 2
    spheres.GlyphType.Radius = 0.5
    spheres.GlyphType.ThetaResolution = spheres.GlyphType.PhiResolution = 20
    spheres.OrientationArray = ["POINTS", "No orientation array"]
    shown = Show(spheres, view)
if size(points, "Points") > 0:
    shown.ColorArrayName = ["POINTS", ""]
    shown.AmbientColor = shown.DiffuseColor = [0.72, 0.81, 0.9] if flat else [0.85, 0.68, 0.42]
    if usual_force > 0 and not flat and not many:  # the chains are inside of them
        shown.Opacity = 0.35
    if flat:  # disks lie behind the forces
        # its name depends on the version of ParaView
        setattr(shown, "Translation" if hasattr(shown, "Translation") else "Position", [0, 0, -diagonal])

contacts = series("contacts")
if usual_force > 0:
    scene.GoToLast()  # where there are contacts
    # as wide as they are strong
    tubes = Tube(registrationName=name + " force chains", Input=contacts)
    tubes.Scalars = ["POINTS", "normal_force"]
    tubes.VaryRadius = "By Scalar"
    tubes.Radius = 0.0002 * diagonal
    tubes.RadiusFactor = 20
    chains = Show(tubes, view)
    chains.SetRepresentationType("Surface")
    ColorBy(chains, ("POINTS", "normal_force"))
    colours = GetColorTransferFunction("normal_force")
    colours.ApplyPreset("Inferno (matplotlib)", True)
    colours.InvertTransferFunction()
    colours.RescaleTransferFunction(0, usual_force)
    chains.SetScalarBarVisibility(view, True)
    bar = GetScalarBar(colours, view)
    bar.Title = "normal force"
    bar.ComponentTitle = ""
    bar.TitleColor = bar.LabelColor = [0.1, 0.1, 0.1]
    arrows = Glyph(registrationName=name + " forces", Input=contacts, GlyphType="Arrow")
    arrows.GlyphMode = "All Points"
    arrows.OrientationArray = ["POINTS", "force"]
    arrows.ScaleArray = ["POINTS", "force"]
    arrows.ScaleFactor = 0.1 * diagonal / usual_force
    Hide(arrows, view)  # the eye beside its name shows them

scene.GoToLast()
view.CameraParallelProjection = 1 if flat else 0
ResetCamera(view)
if not flat:
    focus = list(view.CameraFocalPoint)
    aside = [0, -1, 0] if abs(up[2]) > 0.9 else [0, 0, 1]
    across = [up[1] * aside[2] - up[2] * aside[1], up[2] * aside[0] - up[0] * aside[2], up[0] * aside[1] - up[1] * aside[0]]
    view.CameraPosition = [focus[k] + diagonal * (0.86 * aside[k] + 0.5 * across[k] + 0.36 * up[k]) for k in range(3)]
    view.CameraViewUp = up
    ResetCamera(view)
Render(view)
)py";

}  // namespace

std::string paraview_script(const ParaViewScene& s) {
  constexpr std::size_t many = 5000;
  const std::filesystem::path stem(s.stem);
  const std::string name = stem.filename().string();
  std::error_code none;
  std::filesystem::path folder = std::filesystem::absolute(stem, none).parent_path();
  return fmt::format(
             "# Opens the pictures beside it in ParaView 5.10 or later: File > Load State, or\n"
             "#   paraview --script={0}.py\n"
             "import os\n\nfrom paraview.simple import *\n\n"
             "name = {1}\n"
             "folder = os.path.dirname(os.path.abspath(__file__)) if \"__file__\" in globals() else {2}\n"
             "if not os.path.exists(os.path.join(folder, name + \"_points.pvd\")):\n    folder = {2}\n"
             "flat = {3}\nmany = {4}\nup = [{5:g}, {6:g}, {7:g}]\ndiagonal = {8:g}\nusual_force = {9:g}\n",
             name, quoted(name), quoted(folder.string()), s.flat ? "True" : "False", s.points > many ? "True" : "False",
             s.up(0) + 0.0, s.up(1) + 0.0, s.up(2) + 0.0, s.size, s.usual_force) +
         script;
}

}  // namespace hinge
