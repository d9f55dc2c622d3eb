import { realpath } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { matchGlob, truncate } from '../../base/index.js';
import { isWithin } from '../../base/files/index.js';
import { SLUICE_FILES } from '../../runs/index.js';
import type { BodyOf, ENDPOINTS } from '../api/index.js';
import { RequestError } from '../http/problem.js';
import type { ServerContext } from '../server-context.js';

interface FolderRules {
  readonly roots: readonly string[];
  /** The data folder: an agent that works in Sluice's own folders could change evidence or cached results. */
  readonly data: string;
}

/** Sluice's own files and folders in the data folder, except worktrees: agents work in them. */
const PROTECTED = SLUICE_FILES.filter((name) => name !== 'worktrees');

/**
 * Resolves the real path of a folder that a request may use. The message is the same for every refused folder, so
 * callers cannot find out which other folders exist.
 */
export async function resolveAllowedFolder(folder: string, { roots, data }: FolderRules): Promise<string> {
  const real = isAbsolute(folder) ? await findRealPath(folder) : undefined;
  const allowed = await Promise.all(roots.map(findRealPath));
  const protectedFolders = await Promise.all(
    PROTECTED.map(async (name) => (await findRealPath(join(data, name))) ?? join(data, name)),
  );
  if (real !== undefined && !protectedFolders.some((path) => isWithin(path, real))) {
    if (allowed.some((root) => root !== undefined && isWithin(root, real))) return real;
  }
  throw new RequestError(
    'FOLDER_NOT_ALLOWED',
    'The folder does not exist, is not inside one of the configured roots, or is used by Sluice itself. Use the absolute path of another folder inside "roots".',
  );
}

async function findRealPath(path: string): Promise<string | undefined> {
  // A folder that cannot be resolved cannot be allowed.
  return realpath(path).catch(() => undefined);
}

/** Lists the fields of a request for a run, besides its folder, that the configuration does not allow. */
export function* listRefusals(
  spec: BodyOf<(typeof ENDPOINTS)['startRun']>,
  { commands, placements, env, allowBypass }: ServerContext['settings'],
): Iterable<{ readonly code: RequestError['code']; readonly path: string; readonly message: string }> {
  const program = spec.engine === 'command' ? spec.command?.[0] : undefined;
  if (program !== undefined && !commands.includes(program)) {
    const name = JSON.stringify(truncate(program, 100));
    const message = `The command ${name} is not allowed. Add it to "commands" in the configuration, for example { "commands": [${name}] } in sluice.config.json, run "sluice trust", and restart the server.`;
    yield { code: 'COMMAND_NOT_ALLOWED', path: 'command', message };
  }
  const { placement = 'local' } = spec;
  const configured = placements[placement];
  const { image = configured?.image } = spec;
  const isAllowed =
    image !== undefined &&
    (image === configured?.image || configured?.images?.some((allowed) => matchGlob(allowed, image)) === true);
  if (configured !== undefined && !isAllowed) {
    const setting = `placements.${placement}`;
    const message =
      image === undefined
        ? `No image is configured for this placement. Set "${setting}.image" in the configuration.`
        : `The image ${JSON.stringify(truncate(image, 100))} is not allowed. Add it to "${setting}.images" in the configuration.`;
    yield { code: 'COMMAND_NOT_ALLOWED', path: 'image', message };
  }
  // Network policies and services select pods by their labels.
  const placed = placement === 'kubernetes' ? (['labels'] as const) : [];
  for (const field of ['service_account', 'secrets', 'tolerations', ...placed] as const) {
    if (spec[field] === undefined) continue;
    const message = `A request must not name "${field}", which give access to the cluster. Name them in a wrapper.`;
    yield { code: 'PERMISSIONS_NOT_ALLOWED', path: field, message };
  }
  if (!allowBypass) {
    const code = 'PERMISSIONS_NOT_ALLOWED';
    if (spec.permissions === 'bypass') {
      const message = 'The permissions "bypass" are not allowed. Set "server.allow_bypass" in the configuration.';
      yield { code, path: 'permissions', message };
    }
    if (spec.sandbox === 'off') {
      const message =
        'A request must not disable the sandbox. Set "sandbox.use" or "server.allow_bypass" in the configuration.';
      yield { code, path: 'sandbox', message };
    }
    if (spec.approvals?.some(({ decide }) => decide === 'allow') === true) {
      const message =
        'A request must not contain rules that allow tools. Add them to "approvals" in the configuration, or set "server.allow_bypass".';
      yield { code, path: 'approvals', message };
    }
  }
  // A requested pattern is allowed if an allowed one covers its text, stars included: then it covers every match too.
  const variable = (spec.env ?? []).find((name) => !env.some((allowed) => matchGlob(allowed, name)));
  if (variable !== undefined) {
    const message = `The environment variable "${variable}" is not allowed. Add it to "server.env" in the configuration, or omit it.`;
    yield { code: 'ENVIRONMENT_NOT_ALLOWED', path: 'env', message };
  }
}
