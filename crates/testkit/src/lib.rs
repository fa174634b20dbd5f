//! Patterns, oracles and property checks that any engine plugs into.
