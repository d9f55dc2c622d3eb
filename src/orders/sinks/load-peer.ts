import { SluiceError } from '../../base/index.js';

/** Loads a package that users install only if they need it, or says how to get it. */
export async function loadPeer<T>(packageName: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (error) {
    throw new SluiceError(
      'PACKAGE_MISSING',
      `This sink needs the package ${packageName}. Install it: npm install ${packageName}`,
      { cause: error },
    );
  }
}
