"""A Gymnasium vector environment: a thousand cart-poles, one call steps them all.

    pip install linkwork gymnasium
    python examples/cart_pole_vector_env.py

The task is Gymnasium's CartPole-v1 with a force as the action: keep the pole up and the cart on its rail. An
environment whose episode has ended is reset by the step after (autoreset mode NEXT_STEP).
"""

from typing import Any, ClassVar

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv

import linkwork as lw

FRAME = 0.02  # time of an action [s]
STEP = 0.01  # of the integrator [s]
LONGEST = 500  # actions of an episode
RAIL, TILT, FORCE = 2.4, 0.2095, 10.0  # [m], [rad], [N]


class CartPoles(VectorEnv):
    """`num_envs` cart-poles in one Simulation; observations are positions and velocities of rail and pin."""

    metadata: ClassVar[dict[str, Any]] = {"autoreset_mode": AutoresetMode.NEXT_STEP}

    def __init__(self, num_envs: int = 1000) -> None:
        self.num_envs = num_envs
        self.single_action_space = gymnasium.spaces.Box(-1.0, 1.0, (1,), np.float32)
        self.single_observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (4,), np.float32)
        self.action_space = gymnasium.vector.utils.batch_space(self.single_action_space, num_envs)
        self.observation_space = gymnasium.vector.utils.batch_space(self.single_observation_space, num_envs)
        mechanism = lw.examples.cart_pole()
        mechanism.add(lw.Motor("motor", "rail"))
        self.sim = lw.Simulation(mechanism, q=np.zeros((num_envs, 2)), method="rk4", step=STEP)
        self._ended = np.zeros(num_envs, bool)
        self._actions = np.zeros(num_envs, int)  # of the episode so far

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        super().reset(seed=seed)
        start = self._starts(self.num_envs)
        self.sim.reset(q=start[:, :2], v=start[:, 2:])
        self._ended[:], self._actions[:] = False, 0
        return self._observation(), {}

    def step(
        self, actions: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        begun = self._ended  # they were over: this step begins them anew
        start = self._starts(int(begun.sum()))
        self.sim.inputs[:] = FORCE * np.clip(actions, -1.0, 1.0).reshape(self.num_envs, 1)
        self.sim.step(FRAME)
        self.sim.reset(where=begun, q=start[:, :2], v=start[:, 2:])
        q = self.sim.q
        terminated = ((abs(q[:, 0]) > RAIL) | (abs(q[:, 1]) > TILT)) & ~begun
        self._actions = np.where(begun, 0, self._actions + 1)
        truncated = (self._actions >= LONGEST) & ~terminated
        self._ended = terminated | truncated
        return self._observation(), np.where(begun, 0.0, 1.0), terminated, truncated, {}

    def _starts(self, count: int) -> np.ndarray:
        return self.np_random.uniform(-0.05, 0.05, (count, 4))

    def _observation(self) -> np.ndarray:
        return np.hstack([self.sim.q, self.sim.v]).astype(np.float32)


def main() -> None:
    environments = CartPoles(1000)
    gains = np.array([0.2, 15.0, 0.6, 3.0])  # a controller that keeps the pole up
    observations, _ = environments.reset(seed=0)
    ended = 0
    for _ in range(LONGEST - 1):
        observations, _, terminated, _, _ = environments.step((observations @ gains)[:, None])
        ended += terminated.sum()
    print(f"{ended} of {environments.num_envs} poles fell in {FRAME * LONGEST:g} s")


if __name__ == "__main__":
    main()
