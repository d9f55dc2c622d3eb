import { WRAPPER_ENGINES, findAgentEngine } from '../../orders/index.js';
import type { Wrappers } from '../../orders/index.js';
import { listLaunchers } from '../../runs/index.js';
import type { Handlers } from '../http/request-checks.js';
import type { ServerContext } from '../server-context.js';

/**
 * Creates the handler that lists the engines, folders and other values that requests may contain. Forms offer them as
 * choices.
 */
export function createEngineHandlers({ settings, wrappers, lead }: ServerContext): Pick<Handlers, 'listEngines'> {
  const { commands, roots, env, allowBypass, agents } = settings;
  const engines = Object.values(listLaunchers(agents)).map(({ engine, canResume, canAsk }) => ({
    name: engine,
    takes: engine === 'command' ? ('command' as const) : ('prompt' as const),
    can_ask: canResume,
    asks_permission: canAsk === true,
  }));
  const permissions = ['safe', 'workspace', ...(allowBypass ? (['bypass'] as const) : []), 'ask'] as const;
  const workers = listWrappers(wrappers);
  const checks = Object.keys(lead.checks);
  const repos = lead.repos.map(({ url }) => url);
  return {
    listEngines: async () => ({ engines, commands, roots, repos, permissions, env, workers, checks }),
  };
}

/** Lists the configured wrappers and the built-in agents: orders name one of them in their field `worker`. */
function listWrappers(wrappers: Wrappers): { name: string; type: string }[] {
  const configured = Object.entries(wrappers).map(([name, { type }]) => ({ name, type }));
  const agents = Object.keys(WRAPPER_ENGINES).filter(
    (type) => findAgentEngine(type) !== undefined && !Object.hasOwn(wrappers, type),
  );
  return [...configured, ...agents.map((type) => ({ name: type, type }))];
}
