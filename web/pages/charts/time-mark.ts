/**
 * A moment below a chart, as short as it can be told apart: the day where a new one begins, else the time of the day.
 *
 * @example
 * timeMark(new Date(2026, 10, 15).getTime() / 1000) // '11-15'
 */
export function timeMark(seconds: number): string {
  const date = new Date(seconds * 1000);
  const [hours, minutes] = [date.getHours(), date.getMinutes()];
  if (hours === 0 && minutes === 0) return `${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${two(hours)}:${two(minutes)}`;
}

function two(part: number): string {
  return String(part).padStart(2, '0');
}
