import { createClient } from '../../src/client/index.js';

/** The server this page came from. */
export const client = createClient();
