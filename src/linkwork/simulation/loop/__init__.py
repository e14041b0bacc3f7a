"""The native loop that marches mechanisms through time: one, or one per lane, from a queue.

A state is y = (q, v, W): positions, velocities, and the work W of applied forces, which is integrated along
but has no say in the error. A block holds one mechanism per lane, (n, lanes), and all lanes go through the
stages of the method in lockstep, each with its own time and step. No operation crosses lanes, so that a lane
gives bit for bit what the mechanism gives alone.

The mesh of a run, its *natural* steps, is independent of samples, of the end time and of interruption:

- a natural step from the base (t, y) is attempted with the h of the controller and, if good, committed;
- what lies between two mesh points leaves no trace in the mesh: events are looked for by *side steps* of the
  same method from the same base; samples, and the end, are values of the step's polynomial, if the method has
  one and steps are not fixed, else the results of side steps too.

The last natural step leads beyond the end. Only if it is not finite, as with a law that ends with the run, an
attempt is made to go from the base right to the end.

So a run that is stopped, looked at, sampled or continued gives the same bits. All that a mechanism must
remember is in `records.Memory`; a step that was not committed when the loop returned is repeated.

Arrays of components are padded to whole lines of eight numbers, and computed by lines (`native/cache_lines`).
In the padding scale is inf and all else 0.

The native functions hand each other one record, `records.RUN`, with numbers and the addresses of arrays.
"""
