import { userInfo } from 'node:os';
import { Option } from 'commander';
import type { Command } from 'commander';
import type { CommandIo } from '../command-io.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { inHouse, withHouseOptions } from '../house.js';
import type { HouseFlags } from '../house.js';
import { MisuseError } from '../misuse-error.js';
import { readJsonFile } from '../read-json-file.js';
import { printJson } from '../print-json.js';

interface ResolveFlags extends HouseFlags {
  readonly action: 'accept' | 'reject' | 'retry' | 'edit';
  readonly why: string;
  readonly who?: string;
  readonly result?: string;
}

/** Adds `sluice resolve` to the program. */
export function addResolveCommand(program: Command, io: CommandIo, end: (code: ExitCode) => void): void {
  withHouseOptions(program.command('resolve'))
    .description('settle something that waits for a person')
    .argument('<id>', 'the item, as sluice inbox lists it')
    .addOption(
      new Option('--action <what>', 'accept, reject, retry (a new run), or edit (accept a corrected result)')
        .choices(['accept', 'reject', 'retry', 'edit'])
        .makeOptionMandatory(),
    )
    .requiredOption('--why <text>', 'the reason, for the record and the comment')
    .option('--who <name>', 'who decides; by default the name you are logged in with')
    .option('--result <file>', 'for edit: the work result that counts, as JSON')
    .option('--json', 'JSON, also at a terminal')
    .addHelpText(
      'after',
      '\nExit codes: 0 settled and recorded, 2 it cannot be (already settled, another run is active, nothing to accept).',
    )
    .action(async (id: string, flags: ResolveFlags) => {
      end(await runResolve(id, flags, io));
    });
}

async function runResolve(id: string, flags: ResolveFlags, io: CommandIo): Promise<ExitCode> {
  const { action, why, who = whoIsLoggedIn() } = flags;
  const result = flags.result === undefined ? {} : { result: await readJsonFile(flags.result, io) };
  return inHouse(flags, async ({ lead }) => {
    const { item, decision, order } = await lead.resolve({ id, action, why, who, ...result });
    await lead.deliver();
    const printed = {
      item,
      action: decision.action,
      reason: decision.reason,
      next: decision.next,
      new_run: order ?? null,
    };
    await printJson(printed, io);
    if (order !== undefined) await io.stderr.write(`queued as run ${order.run_id}; sluice worker takes it\n`);
    return EXIT.success;
  });
}

/** In a container a person may be nothing but a number. */
function whoIsLoggedIn(): string {
  try {
    return userInfo().username;
  } catch (cause) {
    throw new MisuseError('this system has no name for you; say who decides with --who', { cause });
  }
}
