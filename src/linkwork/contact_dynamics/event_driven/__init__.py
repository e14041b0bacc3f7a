"""Motion to an accuracy between events: active contacts in fixed modes, and how modes change."""
