"""Each metric against another implementation, its definition, and what holds for every one."""
