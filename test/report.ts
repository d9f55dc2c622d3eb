/** Prints what a campaign has counted, where one is asked for: `npm run torture` sets `CAMPAIGN`. */
export function report(line: string): void {
  if (process.env['CAMPAIGN'] !== undefined) process.stdout.write(`campaign: ${line}\n`);
}
