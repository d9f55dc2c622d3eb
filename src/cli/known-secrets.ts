import { readSecrets } from '../server/config/index.js';
import type { Config } from '../server/config/index.js';
import type { Secrets } from '../runs/index.js';

/** Secrets from the configuration and the environment, and tokens that replaced them while this process was running. */
export interface KnownSecrets {
  /** Longest first, so a secret that contains another secret is masked completely. */
  readonly values: readonly string[];
  /** Adds secrets. Earlier secrets are still masked: they might be in use elsewhere. */
  add(values: readonly string[]): void;
}

/** The maximum number of added secrets to keep, newest first: many more than a rotation replaces. */
const MAX_ADDED = 1000;

export function createKnownSecrets(config: Config, env = process.env): KnownSecrets {
  const initial = readSecrets(config, env);
  let addedSecrets: readonly string[] = [];
  let values = initial;
  return {
    get values() {
      return values;
    },
    add(newSecrets) {
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
