/** How many expired runs one call returns: the next call returns the rest. */
export const EXPIRED_AT_ONCE = 100;
