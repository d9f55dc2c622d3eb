import type { FcmpEvent } from './fcmp-event.js';
import type { RaspEvent } from './rasp-event.js';

/** One event of a translation, told by its protocol. A fact comes first as RASP, then, if people care, as FCMP. */
export type Emitted =
  | { readonly protocol: 'rasp'; readonly event: RaspEvent }
  | { readonly protocol: 'fcmp'; readonly event: FcmpEvent };
