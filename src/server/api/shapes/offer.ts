import { flag, name, object, oneOf } from '../../../base/index.js';

const names = { type: 'array', items: name } as const;

/** The values that runs and orders may use on this server, so a form can offer them. */
export const offerSchema = object({
  engines: {
    type: 'array',
    items: object({
      name,
      /** The required field besides the folder. */
      takes: oneOf(['prompt', 'command']),
      /** Whether it can continue after a question: `mode: interactive`. */
      can_ask: flag,
      /** Whether it can ask for permissions: `permissions: ask`. */
      asks_permission: flag,
    }),
  },
  /** Executables that engine `command` may start. */
  commands: names,
  /** Folders that runs and orders may work in, including subfolders. */
  roots: names,
  /** Repositories that orders may name by their URL. */
  repos: names,
  permissions: { type: 'array', items: oneOf(['safe', 'workspace', 'bypass', 'ask']) },
  /** Environment variables that may be passed to agents. */
  env: names,
  /** The wrappers that orders may name in the field `worker`. */
  workers: { type: 'array', items: object({ name, type: name }) },
  /** Checks that an order may name. */
  checks: names,
});
