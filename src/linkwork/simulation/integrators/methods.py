"""The methods of integration, by the names users give: the METHOD of every file of this folder."""

from importlib import import_module
from pkgutil import iter_modules

from linkwork.simulation import integrators
from linkwork.simulation.integrators import fehlberg, rosenbrock
from linkwork.simulation.integrators.tableau import StepMethod

FOR_STIFF = rosenbrock.METHOD  # what a run goes over to where the motion is stiff


def _here() -> dict[str, StepMethod]:
    """Return the methods of this folder, explicit ones first, by their order."""
    names = [f"{integrators.__name__}.{module.name}" for module in iter_modules(integrators.__path__)]
    modules = [import_module(name) for name in names if name != __name__]
    found = [module.METHOD for module in modules if hasattr(module, "METHOD")]
    return {method.name: method for method in sorted(found, key=lambda m: (m.implicit, m.order, m.name))}


METHODS: dict[str, StepMethod] = _here()


def method_name(method: StepMethod) -> str:
    """Return the name of a method of the user's own, by which its runs know it from now on."""
    if METHODS.setdefault(method.name, method) != method:
        raise ValueError(f"method {method.name!r} is the name of another one; give it a name of its own")
    return method.name


def methods_of_run(chosen: StepMethod) -> tuple[StepMethod, StepMethod]:
    """Return the explicit and the implicit method of a run: the one chosen, and one to change to."""
    return (fehlberg.METHOD, chosen) if chosen.implicit else (chosen, FOR_STIFF)
