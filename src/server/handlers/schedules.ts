import { listSchedules, runSchedule, type Schedule } from '../../orders/dispatch/index.js';
import type { ScheduleView } from '../../store/records/index.js';
import { RequestError } from '../http/problem.js';
import type { Handlers } from '../http/request-checks.js';
import type { ServerContext } from '../server-context.js';

/** Creates the handlers for schedules: list, pause, resume, run now. A pause is kept in the store, for all servers. */
export function createScheduleHandlers(server: ServerContext) {
  const { store, lead, settings, logger, clock } = server;
  const options = { schedules: settings.schedules, lead, store, logger };

  function findSchedule(name: string): { readonly name: string; readonly schedule: Schedule } {
    const schedule = Object.hasOwn(settings.schedules, name) ? settings.schedules[name] : undefined;
    if (schedule !== undefined) return { name, schedule };
    throw new RequestError('NO_SUCH_PATH', 'Schedule not found. GET /v1/schedules lists all schedules.');
  }

  async function describe({ name, schedule }: ReturnType<typeof findSchedule>): Promise<ScheduleView> {
    const [view] = await listSchedules({ schedules: { [name]: schedule }, store });
    if (view === undefined) throw new Error('unreachable: one schedule has one description');
    return view;
  }

  return {
    listSchedules: async () => ({ items: await listSchedules(options), next_cursor: null }),
    listTicks: async () => ({ items: await store.listTicks(), next_cursor: null }),
    async pauseSchedule({ params, body, caller, requestId }) {
      const found = findSchedule(params.name);
      const pause = { schedule: found.name, who: caller.name, why: body.why, at: new Date(clock()).toISOString() };
      await store.pauseSchedule(pause);
      logger.info('schedule paused', { ...pause, request_id: requestId });
      return describe(found);
    },
    async resumeSchedule({ params, caller, requestId }) {
      const found = findSchedule(params.name);
      await store.resumeSchedule(found.name);
      logger.info('schedule resumed', { schedule: found.name, who: caller.name, request_id: requestId });
      return describe(found);
    },
    async runSchedule({ params, caller }) {
      server.checkAcceptsWork();
      return runSchedule(options, { ...findSchedule(params.name), who: caller.name });
    },
  } satisfies Partial<Handlers>;
}
