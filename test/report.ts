/** Prints a campaign's numbers; only during `npm run torture`, which sets `CAMPAIGN`. */
export function report(line: string): void {
  if (process.env['CAMPAIGN'] !== undefined) process.stdout.write(`campaign: ${line}\n`);
}
