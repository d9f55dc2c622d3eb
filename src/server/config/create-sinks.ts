import { join } from 'node:path';
import { SluiceError } from '../../base/index.js';
import {
  createGitHubSink,
  createGitLabSink,
  createMarkdownSink,
  createSignedPost,
  createWebhookSink,
} from '../../orders/index.js';
import type { SignedPost, Sink } from '../../orders/index.js';
import type { Config, SinkConfig } from './config.js';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Creates the configured sinks; by default, a sink that writes a Markdown file per issue. Secrets come from the
 * environment.
 *
 * @example
 * createSinks({ data, sinks: [{ type: 'github', token_env: 'GITHUB_TOKEN' }] }, process.env)
 */
export function createSinks(config: Pick<Config, 'data' | 'sinks'>, env: Environment): readonly Sink[] {
  const { data, sinks = [{ type: 'markdown' }] } = config;
  const created = sinks.map((sink) => createSink(sink, data, env));
  const names = created.map(({ name }) => name);
  const duplicate = names.find((name, index) => names.indexOf(name) !== index);
  if (duplicate !== undefined)
    throw createConfigError(nameSink(duplicate), 'has the same name as another sink. Rename one of them');
  return created;
}

/** Creates the function that sends notifications; returns undefined without `notify` in the configuration. */
export function createNotifyPost({ notify }: Pick<Config, 'notify'>, env: Environment): SignedPost | undefined {
  if (notify === undefined) return undefined;
  const { url, secret_env, allow_private_addresses: allowPrivateAddresses = false } = notify;
  const secret = readSecret('The setting "notify"', 'secret_env', secret_env, env);
  return createSignedPost({ url, secret, name: 'notify', allowPrivateAddresses });
}

function createSink(sink: SinkConfig, data: string, env: Environment): Sink {
  const name = sink.name ?? sink.type;
  switch (sink.type) {
    case 'markdown':
      return createMarkdownSink({ folder: sink.dir ?? join(data, 'comments'), name });
    case 'webhook': {
      if (sink.url === undefined) throw createConfigError(nameSink(name), 'has no url. Set it');
      const secret = readSecret(nameSink(name), 'secret_env', sink.secret_env, env);
      const allowPrivateAddresses = sink.allow_private_addresses ?? false;
      return createWebhookSink({ url: sink.url, secret, name, allowPrivateAddresses });
    }
    case 'github':
    case 'gitlab': {
      const create = sink.type === 'github' ? createGitHubSink : createGitLabSink;
      const token = readSecret(nameSink(name), 'token_env', sink.token_env, env);
      return create({ token, name, ...(sink.base_url === undefined ? {} : { baseUrl: sink.base_url }) });
    }
  }
}

function readSecret(subject: string, key: string, variable: string | undefined, env: Environment): string {
  if (variable === undefined)
    throw createConfigError(
      subject,
      `has no ${key}. Set it to the name of the environment variable that contains the secret`,
    );
  const value = env[variable];
  if (value === undefined || value === '')
    throw createConfigError(subject, `has no secret: the environment variable ${variable} is not set. Set it`);
  return value;
}

function nameSink(name: string): string {
  return `The sink "${name}"`;
}

function createConfigError(subject: string, problem: string): SluiceError {
  return new SluiceError('INVALID_CONFIG', `${subject} in the configuration ${problem}.`);
}
