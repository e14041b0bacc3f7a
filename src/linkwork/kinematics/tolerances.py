"""When Newton's method has arrived, and how far it may go at once: the same in all its forms.

Steps are scaled: lengths in sizes of the mechanism, angles in radians.
"""

SMALL = 1e-9  # a step after which there is none left: Newton's method squares it
OPEN = 1e-7  # of an equation that is not satisfied, scaled
ROUNDING = 1e-12  # of an equation that is satisfied, however long the next step
NOISE = 1e-11  # steps that need not get shorter any more
SLOW = 0.7  # ratio of steps: at a dead point each is half as long as the one before
ROUNDS = 25
FIRM = 1e-6  # pivot of equations that are not near a dead point
STRIDE = 0.5  # largest change in one sub-step
BEND = 0.25  # largest correction of a prediction, relative to what was predicted
SLACK = 1e-7  # correction that is allowed in any case
