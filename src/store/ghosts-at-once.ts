/** How many orders or runs of vanished workers one call returns: the next call returns the rest. */
export const GHOSTS_AT_ONCE = 100;
