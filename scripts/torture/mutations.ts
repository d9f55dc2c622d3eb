import { EVENTS } from './mutations/events.js';
import { ORDERS } from './mutations/orders.js';
import { PARSER } from './mutations/parser.js';
import { REPAIR } from './mutations/repair.js';
import { TAGS } from './mutations/tags.js';
import type { Mutation } from './run-mutation.js';

/** Mutations that break clauses of `docs/requirements.md` in the sources. The tests that the row names must fail. */
export const MUTATIONS: readonly Mutation[] = [...REPAIR, ...TAGS, ...EVENTS, ...PARSER, ...ORDERS];
