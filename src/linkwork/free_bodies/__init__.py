"""Rigid bodies and particles the way they are taught: momenta, forces, and nothing that joins them."""

from linkwork.free_bodies.integrate import integrate
from linkwork.free_bodies.orientation import orthonormalised
from linkwork.free_bodies.particle import Particle
from linkwork.free_bodies.rigid_body import RigidBody

__all__ = ["Particle", "RigidBody", "integrate", "orthonormalised"]
