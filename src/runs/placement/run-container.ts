import { dirname, join } from 'node:path';
import { makeFolder, removeFolder } from '../../base/files/index.js';
import type { RunContext } from '../attempts/run-context.js';
import { RUN_MARKER } from '../process/process-record.js';
import {
  PlacementError,
  findContainerEngine,
  getContainerPrefix,
  openContainer,
  removeContainer,
  type ContainerRequest,
  type ContainerSettings,
  type Sandbox,
} from '../sandbox/index.js';

/** The folder in the data folder with the home folders of containers, one per run. */
const HOMES_FOLDER = 'homes';

/** The label that names a container's run. */
const RUN_LABEL = 'sluice.run';

/** Creates the container of a run's next process; its home folder is kept for the attempts of the run. */
export async function openRunContainer(
  { id, spec, ports, progress, runDir }: RunContext,
  request: Omit<ContainerRequest, 'name' | 'labels' | 'image' | 'cpu' | 'memory' | 'home' | 'engineEnv'>,
): Promise<{ readonly sandbox: Sandbox; readonly report: { readonly image: string; readonly engine: string } }> {
  const settings = ports.sandbox.container ?? {};
  const image = spec.image ?? settings.image;
  if (image === undefined)
    throw new PlacementError('image', 'no image is named; name one in the run, or in "placements.container.image"');
  const engine = await findContainerEngine(settings);
  const home = getHomeFolder(runDir);
  await makeFolder(home);
  const sandbox = await openContainer(engine, {
    ...request,
    name: `${getContainerPrefix(id)}${progress.attempts}`,
    labels: { [RUN_LABEL]: id },
    image,
    cpu: spec.cpu,
    memory: spec.memory,
    home,
    engineEnv: { [RUN_MARKER]: runDir },
  });
  return { sandbox, report: { image, engine: `${engine.name} ${engine.version}` } };
}

/** Removes the containers of a run. Returns true only if the engine attests that it has none. */
export async function removeRunContainers(id: string, settings?: ContainerSettings): Promise<boolean> {
  const engine = await findContainerEngine(settings).catch(() => undefined);
  if (engine === undefined) return false;
  const list = async () => engine.run(['ps', '--all', '--quiet', '--no-trunc', '--filter', `label=${RUN_LABEL}=${id}`]);
  const found = await list();
  if (found.exitCode !== 0) return false;
  const ids = found.stdout.split('\n').filter((line) => line !== '');
  for (const container of ids) await removeContainer(engine, container);
  const left = ids.length === 0 ? found : await list();
  return left.exitCode === 0 && left.stdout.trim() === '';
}

export function getHomeFolder(runDir: string): string {
  return join(dirname(dirname(runDir)), HOMES_FOLDER, runDir.slice(dirname(runDir).length + 1));
}

/** Removes the home folder of a run's containers when the run has ended. */
export async function removeContainerHome({ spec, runDir }: Pick<RunContext, 'spec' | 'runDir'>): Promise<void> {
  if (spec.placement === 'container') await removeFolder(getHomeFolder(runDir));
}
