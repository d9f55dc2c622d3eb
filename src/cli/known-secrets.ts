import { readSecrets } from '../config/index.js';
import type { Config } from '../config/index.js';
import type { Secrets } from '../runs/index.js';

/** What must not be in a fixture or a report: sensitive variables, the secrets of the configuration, and its patterns. */
export async function compileKnownSecrets(config: Config): Promise<Secrets> {
  const { compileSecrets, sensitiveEnvironment } = await import('../runs/index.js');
  const { patterns = [] } = config.secrets ?? {};
  return compileSecrets({
    values: [...sensitiveEnvironment(process.env), ...readSecrets(config, process.env)],
    patterns,
  });
}
