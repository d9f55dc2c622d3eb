import { omitUndefined } from '../base/index.js';
import type { Config } from '../config/index.js';
import type { Logger } from '../base/index.js';
import type { CommandIo } from './command-io.js';

/**
 * What makes the logger of a long command from its configuration: a line of JSON each on stderr, with everything hidden
 * that must stay secret, wherever it turns up.
 */
export async function loadLogger(io: CommandIo): Promise<(config: Config) => Logger> {
  const [{ createJsonLogger }, { readSecrets }] = await Promise.all([
    import('../base/index.js'),
    import('../config/index.js'),
  ]);
  return (config) => {
    const secrets = readSecrets(config, process.env);
    const mask = (text: string): string => secrets.reduce((masked, secret) => masked.replaceAll(secret, '***'), text);
    const level = config.server?.log_level;
    return createJsonLogger((line) => void io.stderr.write(line), { mask, ...omitUndefined({ level }) });
  };
}
