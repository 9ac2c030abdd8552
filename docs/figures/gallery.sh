#!/usr/bin/env bash
# The pictures of docs/gallery.md, by the program itself, and that of its page in docs/images/report.png, where Chromium and the
# packages of web/ are: docs/figures/gallery.sh [build/hinge]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
hinge=$(realpath "${1:-build/hinge}")
out=docs/images/gallery
mkdir -p "$out"

draw() {  # NAME X Y TITLE [MORE OPTIONS]...
  local name=$1 x=$2 y=$3 title=$4
  shift 4
  "$hinge" plot "examples/$name.toml" --x "$x" --y "$y" --title "$title" --out "$out/$name.svg" --force "$@"
}

draw amplifier t 'y[0],y[7]' 'A transistor amplifier: input and output'
draw bouncing-ball t y 'Height of a ball, restitution 1/2'
draw bowling-ball t slip 'A bowling ball slides, then rolls'
draw box-stack t 'box0[2],box1[2],box2[2]' 'Heights of three boxes of a stack that is struck'
draw chain 'q[19][0]' 'q[19][1]' 'Path of the last link of a chain'
draw charged-particle 'q[0]' 'q[1]' 'A charged particle on a sphere, from above'
draw cubic-surface 'q[0]' 'q[1]' 'A point on a curve'
draw double-spherical-pendulum 'q2[0]' 'q2[1]' 'Path of the second mass'
draw five-bar 'C[0]' 'C[1]' 'Path of a joint of a five-bar mechanism' --set output.every=3
draw four-bar-stop t 'B[0]' 'A mechanism strikes a stop' --set output.every=5
draw four-bar 'B[0]' 'B[1]' 'Path of the rocker of a four-bar mechanism'
draw grip t 'cube[2]' 'A cube is held by friction alone' --set output.every=4
draw heavy-top 'top_d3[0]' 'top_d3[1]' 'Axis of a heavy top, from above'
draw incline t "q[1],q'[1]" 'A block slides down an incline and stops: way and velocity'
draw known-solution t 'y[0],y[1]' 'A solution that is known'
draw newtons-cradle t "x'[0],x'[4]" "Velocities of the first and the last ball"
draw painleve-rod t "x',y'" 'A rod whose tip is stopped at once'
draw pendulum-dae x y 'A pendulum, typed as a DAE'
draw pendulum t angle,tension 'Angle and tension'
draw rectifier t source,v 'Voltage behind an ideal diode'
draw rotating-hoop t angle,equilibrium 'A bead settles on a turning hoop' --set integrate.end=20
draw slider-crank t crank_rate 'Angular velocity of a crank that turns freely'
draw slider-crank-clearance 'A[0]' 'A[1]' 'A crank pin with play' --set output.every=5
draw spinning-coin t tilt 'Tilt of a spinning coin'
draw bearing-friction t speed 'A flywheel stops in its bearing'
draw cam t lift 'Lift of a follower, two turns of the cam' --set integrate.end=0.84
draw gear-train t energy_error 'Energy that a motor has given to a gear train'
draw joint-limit t angle 'An arm between two stops'
draw screw-jack t turns,sunk 'A screw driven by its load'
draw torsion-spring t turns,speed 'A torsion spring over five turns'
draw cam-table t height 'Lift of a valve by a cam from a table of points'
draw dc-motor t a,current 'A motor with inductance lifts a pendulum'
draw pid-slider-crank t speed 'A crank is held at its speed'
draw sampled-control t x,u 'A cart, and a force that is held between samples'

if command -v "${HINGE_CHROMIUM:-chromium}" >/dev/null && [ -x web/node_modules/.bin/vite-node ]; then
  made=$(mktemp -d)
  "$hinge" run examples/double-spherical-pendulum.toml --report "$made/report.html" >/dev/null
  (cd web && node_modules/.bin/vite-node tests/e2e/picture.ts "$made" "$made/report.html:1280:light:0.41")
  mv "$made/report-1280-light.png" docs/images/report.png
  rm -rf "$made"
fi
