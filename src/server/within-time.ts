import { RequestError } from './request-error.js';

/** What `work` comes to, or `REQUEST_TIMED_OUT`. What it had begun is not undone. */
export async function withinTime<T>(ms: number, work: () => Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new RequestError('REQUEST_TIMED_OUT', `It takes longer than ${ms / 1000} seconds. Try again.`));
    }, ms);
  });
  try {
    return await Promise.race([work(), late]);
  } finally {
    clearTimeout(timer);
  }
}
