import { EVENTS } from './mutations/events.js';
import { ORDERS } from './mutations/orders.js';
import { PARSER } from './mutations/parser.js';
import { REPAIR } from './mutations/repair.js';
import { TAGS } from './mutations/tags.js';
import type { Mutation } from './run-mutation.js';

/** Clauses of `docs/requirements.md`, each broken where it is written. The tests that its row names must notice. */
export const MUTATIONS: readonly Mutation[] = [...REPAIR, ...TAGS, ...EVENTS, ...PARSER, ...ORDERS];
