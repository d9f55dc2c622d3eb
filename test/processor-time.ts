/** Returns the processor time of a function in milliseconds, which hardly depends on other processes. */
export function measureProcessor(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
