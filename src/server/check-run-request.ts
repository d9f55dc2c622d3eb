import { checkRunSpec } from '../runs/index.js';
import type { RunSpec } from '../records/index.js';
import { RequestError } from './request-error.js';
import { allowedFolder } from './security/allowed-folder.js';
import type { ServerContext } from './server-context.js';

/**
 * What a request asks to run, if it may: in an allowed folder, with an allowed program, and with no more rights than the
 * configuration grants. The folder is given as its real path, so that a link changed afterwards leads nowhere else.
 */
export async function checkRunRequest(
  body: unknown,
  { settings, data }: Pick<ServerContext, 'settings' | 'data'>,
): Promise<RunSpec> {
  const { spec } = checkRunSpec(body);
  const { commands, roots, allowBypass } = settings;
  const program = spec.engine === 'command' ? spec.command?.[0] : undefined;
  if (program !== undefined && !commands.includes(program)) {
    throw new RequestError(
      'COMMAND_NOT_ALLOWED',
      'Only programs that `commands` of the configuration lists can be started: add it there.',
    );
  }
  if (spec.permissions === 'bypass' && !allowBypass) {
    throw new RequestError('PERMISSIONS_NOT_ALLOWED', '`bypass` needs `server.allow_bypass` in the configuration.');
  }
  const variable = (spec.env ?? []).find((name) => !settings.env.includes(name));
  if (variable !== undefined) {
    throw new RequestError(
      'ENVIRONMENT_NOT_ALLOWED',
      `${variable} is not in \`server.env\` of the configuration: add it there, or leave it out.`,
    );
  }
  return { ...spec, workdir: await allowedFolder(spec.workdir, { roots, data }) };
}
