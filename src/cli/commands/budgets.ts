import type { Command } from 'commander';
import { describeWaitingFor } from '../../store/records/index.js';
import type { Budget } from '../../store/records/index.js';
import type { CommandIo } from '../command-io.js';
import { EXIT, type ExitCode } from '../failure.js';
import { withContext, withContextOptions } from '../command-context.js';
import type { ContextFlags } from '../command-context.js';
import { printJson, printRows, wantsJson } from '../print.js';
import { formatLine } from '../terminal-text.js';

interface BudgetFlags extends ContextFlags {
  readonly json?: boolean;
}

export function addBudgetsCommand(program: Command, io: CommandIo, end: (code: ExitCode) => void): void {
  withContextOptions(program.command('budgets'))
    .description('show how much of each budget is used, and the runs that wait for a budget')
    .option('--json', 'print all fields as JSON, even at a terminal')
    .action(async (flags: BudgetFlags) => {
      end(await runBudgets(flags, io));
    });
}

async function runBudgets(flags: BudgetFlags, io: CommandIo): Promise<ExitCode> {
  const { reportBudgets } = await import('../../orders/dispatch/index.js');
  const report = await withContext(
    flags,
    io,
    async ({ store, config }) => reportBudgets(store, config.budgets ?? {}, store.now()),
    { isReadOnly: true },
  );
  if (wantsJson(flags, io)) {
    await printJson(report, io);
    return EXIT.success;
  }
  await printRows(
    report.items,
    [
      { heading: 'BUDGET', value: ({ scope }) => scope },
      { heading: 'NAME', value: ({ name }) => name },
      { heading: 'TOKENS', value: ({ tokens }) => formatAmount(tokens) },
      { heading: 'COST', value: ({ cost }) => formatAmount(cost, '$') },
    ],
    flags,
    io,
  );
  for (const { run, ...wait } of report.waiting)
    await io.stdout.write(
      formatLine(`Run ${run} is waiting for ${describeWaitingFor({ reason: 'budget', ...wait })}.`),
    );
  return EXIT.success;
}

function formatAmount(amount: Budget['tokens'], sign = ''): string | null {
  if (amount === null) return null;
  const format = (value: number): string => `${sign}${value.toLocaleString('en-US', { maximumFractionDigits: 4 })}`;
  const reserved = amount.held > amount.used ? `, ${format(amount.held - amount.used)} reserved` : '';
  return `${format(amount.used)} of ${format(amount.limit)}${reserved}`;
}
