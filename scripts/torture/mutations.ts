import { EVENTS } from './mutations/events.js';
import { ORDERS } from './mutations/orders.js';
import { PARSER } from './mutations/parser.js';
import { REPAIR } from './mutations/repair.js';
import { TAGS } from './mutations/tags.js';
import type { Mutation } from './run-mutation.js';

/** Mutations of the sources, each of which breaks a clause of `docs/requirements.md`: the tests in its row must then fail. */
export const MUTATIONS: readonly Mutation[] = [...REPAIR, ...TAGS, ...EVENTS, ...PARSER, ...ORDERS];
