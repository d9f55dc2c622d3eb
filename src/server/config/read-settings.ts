import { join } from 'node:path';
import { openArchive, readArchiveSettings, type Archive } from '../../runs/archive/index.js';
import { DEFAULT_SINKS, findDatabaseFile, type Config, type SinkConfig } from './config.js';
import { omitUndefined, SluiceError } from '../../base/index.js';
import { findUserFolder, readSmallFile } from '../../base/files/index.js';
import type { SandboxPort } from '../../runs/index.js';
import { findTokensFile, listTokenValues } from './tokens.js';
import {
  createGitHubSink,
  createGitLabSink,
  createMarkdownSink,
  createSignedPost,
  createWebhookSink,
} from '../../orders/index.js';
import type { SignedPost, Sink } from '../../orders/index.js';

type Environment = Readonly<Record<string, string | undefined>>;

/** Opens the configured archive without contacting it; returns undefined if none is configured. */
export async function createArchive(
  { archive }: Pick<Config, 'archive'>,
  env: Environment,
): Promise<Archive | undefined> {
  return archive === undefined ? undefined : openArchive(readArchiveSettings(archive, env));
}

/** Reads the sandbox settings, with the files that no sandbox shows: databases, tokens and the configuration. */
export function readSandbox(
  {
    sandbox,
    placements,
    database,
    tokens,
    file,
  }: Pick<Config, 'sandbox' | 'placements' | 'database' | 'tokens' | 'file'>,
  env: Environment,
): SandboxPort {
  const databaseFile = findDatabaseFile(database);
  const tokensFile = findTokensFile(env);
  return {
    ...sandbox,
    hidden: [
      findUserFolder(env),
      ...(tokensFile === undefined ? [] : [tokensFile]),
      ...(databaseFile === undefined ? [] : ['', '-wal', '-shm'].map((ending) => databaseFile + ending)),
    ],
    ...omitUndefined({
      container: placements?.container,
      configuration:
        file === null ? undefined : { file, hasTokens: tokens?.some(({ value }) => value !== undefined) === true },
    }),
  };
}

/**
 * Reads the secrets that must never be printed, from the configuration and the environment: tokens and secrets of the
 * server, sinks, notifications, triggers and repositories. Longest first, so a secret that contains another secret is
 * masked completely.
 */
export function readSecrets(
  config: Pick<Config, 'tokens' | 'sinks' | 'notify' | 'triggers' | 'repos'>,
  env: Environment,
): readonly string[] {
  const variables = (config.sinks ?? []).flatMap(({ secret_env, token_env }) => [secret_env, token_env]);
  variables.push(
    config.notify?.secret_env,
    ...Object.values(config.triggers ?? {}).map(({ secret_env }) => secret_env),
  );
  for (const repo of config.repos ?? []) if (typeof repo !== 'string') variables.push(repo.token_env);
  const fromVariables = variables.map((variable) => (variable === undefined ? '' : (env[variable] ?? '')));
  const secrets = [...listTokenValues(config, env), ...fromVariables].filter((secret) => secret !== '');
  return [...new Set(secrets)].toSorted((left, right) => right.length - left.length);
}

/** Creates the configured sinks; by default one that writes a Markdown file per issue. */
export function createSinks(config: Pick<Config, 'data' | 'sinks'>, env: Environment): readonly Sink[] {
  const { data, sinks = DEFAULT_SINKS } = config;
  const created = sinks.map((sink) => ({
    ...createSink(sink, data, env),
    ...(sink.language === undefined ? {} : { language: sink.language }),
  }));
  const names = created.map(({ name }) => name);
  const duplicate = names.find((name, index) => names.indexOf(name) !== index);
  if (duplicate !== undefined)
    throw createConfigError(nameSink(duplicate), 'has the same name as another sink. Rename one of them');
  return created;
}

/** Far more than a template may have. */
const MAX_TEMPLATE_BYTES = 1024 * 1024;

/** Reads the configured template for comments; returns undefined if none is configured. `createLead` checks it. */
export async function readCommentTemplate({
  comment_template: file,
}: Pick<Config, 'comment_template'>): Promise<string | undefined> {
  if (file === undefined) return undefined;
  const text = await readSmallFile(file, MAX_TEMPLATE_BYTES);
  if (text === undefined)
    throw createConfigError('The setting "comment_template"', `names "${file}", which does not exist`);
  return text;
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
