"""Options of a run as settings of the model: where each of them belongs, and what was meant by those that there are not."""

from __future__ import annotations

from typing import Any, Iterable, Mapping

from . import _toml
from ._errors import InputError

Setting = tuple[str, str, str]  # key, value as TOML, the option of the program that stands for it

_short = ("method", "step", "tolerance", "end")  # options of the program with names of their own
_initial = ("position", "velocity", "multiplier", "consistent", "fixed", "unknowns", "bodies")
_output = ("every", "interval", "times", "quantities")

_meant = {
    "step": ("dt", "h", "timestep", "time_step", "stepsize", "step_size", "first_step"),
    "end": ("t_end", "tend", "t_final", "tfinal", "tf", "duration", "until", "stop", "t1", "t_span", "time", "t"),
    "tolerance": ("tol", "rtol", "atol", "eps", "accuracy"),
    "position": ("q0", "x0", "y0", "initial", "initial_position", "positions"),
    "velocity": ("v0", "qdot0", "initial_velocity", "velocities"),
    "times": ("t_eval", "saveat", "output_times"),
    "interval": ("sample_interval", "output_step", "dt_out"),
    "out": ("output", "file", "filename", "record"),
    "report": ("page", "html"),
    "on_row": ("callback", "on_step", "observer"),
    "method": ("solver", "integrator", "scheme"),
}


def key(name: Any) -> str:
    """A key of a model; of a parameter that is a symbol its place."""
    return "parameters." + name._hinge_name() if hasattr(name, "_hinge_name") else str(name)


def settings_of(options: Mapping[str, Any]) -> list[Setting]:
    """What options of `run` set."""
    given: list[Setting] = []
    for name, value in options.items():
        if value is None:
            continue
        if name == "parameters":
            if not isinstance(value, Mapping):
                raise InputError('parameters: give names and values, as in parameters={"l": 2.0}')
            given += [("parameters." + _toml._name(k), _toml.value(v), "") for k, v in value.items()]
            continue
        place = _place(name)
        if name == "momentum":  # values to start with, or momentum maps to watch
            maps = isinstance(value, Mapping) and all(isinstance(v, Mapping) for v in value.values())
            place = "output." if maps else "initial."
        given.append((place + name, _toml.value(value), "--" + name if name in _short else ""))
    return given


def _place(name: str) -> str:
    return "output." if name in _output else "initial." if name in _initial else "integrate."


def placed(error: InputError, keys: Iterable[str]) -> InputError:
    """The same complaint, with where the option of `run` is that was taken for a key."""
    for name in keys:
        if str(error).startswith(f"--set {name}: unknown key"):
            meant = next((k for k, others in _meant.items() if name.lower() in others), name)
            if meant in (*_short, *_initial, *_output):
                return InputError(f"{error}; did you mean '{_place(meant)}{meant}'?")
    return error


def explained(error: InputError, options: Iterable[str]) -> InputError:
    """The same complaint, with what an option that there is not may have meant."""
    for name in options:
        place, _, rest = str(error).partition(f"integrate.{name}: ")
        if rest and "\n" not in place and (place == "--set " or "has no option" in rest):
            meant = next((k for k, others in _meant.items() if name.lower() in others), None)
            more = f"did you mean '{meant}'?" if meant else "run itself takes method, step, tolerance, end, every, interval, " \
                "times, position, velocity, parameters, progress, on_row, out, report"  # fmt: skip
            return InputError(f"{name}: {rest}; {more}")
    return error
