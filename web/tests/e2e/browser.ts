// Debian's Chromium, with rendering in software: the same on every machine.
export const CHROMIUM = process.env.HINGE_CHROMIUM ?? '/usr/bin/chromium';
export const CHROMIUM_ARGUMENTS = ['--no-sandbox', '--use-gl=angle', '--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--ignore-gpu-blocklist'];
