import { getErrorMessage } from '../../../src/base/index.js';
import { createTextReader, type WorkerCall, type WorkerResponse } from './text-reader.js';

const reader = createTextReader(() => performance.now());

// Input can be long, so it is parsed here to keep the page responsive.
addEventListener('message', ({ data: { number, name, input } }: MessageEvent<WorkerCall>) => {
  let response: WorkerResponse;
  try {
    response = { number, output: Reflect.apply(reader[name], reader, input) };
  } catch (error) {
    response = { number, failure: getErrorMessage(error) };
  }
  postMessage(response);
});
