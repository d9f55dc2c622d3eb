/** The protocols that git may use. */
const PROTOCOLS = ['https:', 'http:', 'ssh:', 'file:'];

/** Finds what is wrong with the URL of a repository; undefined if nothing is. */
export function findUrlProblem(text: string): string | undefined {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    return 'use a URL such as https://git.example.org/team/shop.git';
  }
  if (!PROTOCOLS.includes(url.protocol)) return 'use https, http, ssh or file';
  if (url.password !== '' || (url.username !== '' && url.protocol !== 'ssh:')) {
    return 'leave user and password out; token_env of the configuration names the variable with the password';
  }
  if (url.search !== '' || url.hash !== '') return 'leave out what follows ? or #';
  if (url.protocol === 'file:' ? url.host !== '' : url.hostname === '' || url.hostname.startsWith('-')) {
    return 'the host is invalid';
  }
  return undefined;
}
