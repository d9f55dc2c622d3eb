import { flag, name, object, oneOf } from '../../base/index.js';

const names = { type: 'array', items: name } as const;

/** What a run or an order may ask of this server, so that a form can say so before it is sent. */
export const offerSchema = object({
  engines: {
    type: 'array',
    items: object({
      name,
      /** What has to be given beside the folder. */
      takes: oneOf(['prompt', 'command']),
      /** Whether it can continue after a question: `mode: interactive`. */
      can_ask: flag,
      /** Whether it can ask for permissions: `permissions: ask`. */
      asks_permission: flag,
    }),
  },
  /** Programs that engine `command` may start. */
  commands: names,
  /** Folders in which and below which runs and orders may work. */
  roots: names,
  permissions: { type: 'array', items: oneOf(['safe', 'workspace', 'bypass', 'ask']) },
  /** Environment variables that may be passed to agents. */
  env: names,
  /** Who does orders, by the name that orders use. */
  workers: { type: 'array', items: object({ name, type: name }) },
  /** Checks that an order may name. */
  checks: names,
});
