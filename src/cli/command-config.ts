import { loadConfig, readSecrets } from '../server/config/index.js';
import type { Config, ConfigFlags, UntrustedConfig } from '../server/config/index.js';
import type { CommandIo } from './command-io.js';
import { makeVisible, formatLine } from './terminal-text.js';
import type { Secrets } from '../runs/index.js';
import { silentLogger, type Logger } from '../base/index.js';
import { runSpecSchema } from '../store/records/index.js';
import type { Tracing } from '../server/tracing/index.js';

/**
 * Loads a command's configuration. At a terminal, the user is asked whether to trust an untrusted file; otherwise the
 * command fails with `CONFIG_NOT_TRUSTED`.
 */
export async function loadCommandConfig(flags: ConfigFlags, io: CommandIo): Promise<Config> {
  const { ask } = io;
  const confirmTrust =
    ask === undefined ? undefined : async (untrusted: UntrustedConfig) => confirmAtTerminal(untrusted, ask);
  return loadConfig({ cwd: process.cwd(), env: process.env, flags, confirmTrust });
}

async function confirmAtTerminal(
  { file, state, needs }: UntrustedConfig,
  ask: NonNullable<CommandIo['ask']>,
): Promise<boolean> {
  const risk = needs.includes('code') ? 'It is code that every command would execute.' : `It sets ${needs.join(', ')}.`;
  const problem = state === 'changed' ? 'has changed since you trusted it' : 'is not trusted yet';
  const answer = await ask(makeVisible(`The configuration "${file}" ${problem}. ${risk} Trust it? [y/N] `));
  return /^y(?:es)?$/i.test(answer.trim());
}

/** Secrets from the configuration and the environment, and tokens that replaced them while this process was running. */
export type KnownSecrets = ReturnType<typeof createKnownSecrets>;

/** The maximum number of added secrets to keep, newest first: many more than a rotation replaces. */
const MAX_ADDED = 1000;

export function createKnownSecrets(config: Config, env = process.env) {
  const initial = readSecrets(config, env);
  let addedSecrets: readonly string[] = [];
  let values = initial;
  return {
    /** Longest first, so a secret that contains another secret is masked completely. */
    get values(): readonly string[] {
      return values;
    },
    /** Adds secrets. Earlier secrets are still masked: they might be in use elsewhere. */
    add(newSecrets: readonly string[]) {
      addedSecrets = [...new Set([...newSecrets, ...addedSecrets])].slice(0, MAX_ADDED);
      values = [...new Set([...initial, ...addedSecrets])].toSorted((left, right) => right.length - left.length);
    },
  };
}

/** Compiles the secrets to mask in fixtures and reports: sensitive variables, known secrets, and the configured patterns. */
export async function compileKnownSecrets(config: Config, known = createKnownSecrets(config)): Promise<Secrets> {
  const { compileSecrets, listSensitiveValues } = await import('../runs/index.js');
  const { patterns = [] } = config.secrets ?? {};
  let compiled: { readonly values: readonly string[]; readonly secrets: Secrets } | undefined;
  const getSecrets = (): Secrets => {
    const { values } = known;
    if (compiled?.values !== values) {
      compiled = {
        values,
        secrets: compileSecrets({ values: [...listSensitiveValues(process.env), ...values], patterns }),
      };
    }
    return compiled.secrets;
  };
  return {
    createMasker: () => getSecrets().createMasker(),
    mask: (bytes) => getSecrets().mask(bytes),
    maskText: (text) => getSecrets().maskText(text),
  };
}

/**
 * Opens tracing for this process's OpenTelemetry SDK, if any. Problems are reported in the log, or on stderr without a
 * log.
 */
export async function openCommandTracing(
  { traces = {}, notify }: Pick<Config, 'traces' | 'notify'>,
  { logger, io }: { readonly logger?: Logger; readonly io: CommandIo },
): Promise<Tracing | undefined> {
  const { openTracing } = await import('../server/tracing/index.js');
  const isLogged = logger !== undefined && logger !== silentLogger;
  const onStderr = { ...silentLogger, warn: (message: string) => void io.stderr.write(formatLine(message)) };
  return openTracing({
    logger: isLogged ? logger : onStderr,
    content: traces.content,
    consoleUrl: traces.console_url ?? notify?.console_url,
  });
}

/** Reads the span that this process belongs to from `TRACEPARENT`; undefined if it is missing or invalid. */
export function readTraceparent(): string | undefined {
  const value = process.env['TRACEPARENT'] ?? '';
  return new RegExp(runSpecSchema.properties.traceparent.pattern).test(value) ? value : undefined;
}
