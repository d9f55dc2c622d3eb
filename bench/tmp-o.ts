import { mkdtemp } from 'node:fs/promises';
import { sampleFcmp, sampleRasp } from '../src/store/contract/fixtures/run-samples.js';
import { openStore } from './product.js';
const folder = await mkdtemp('/tmp/o-');
const WORDS = 'the agent reads a file of the project and reports what it found there, line by line, '.repeat(2);
const makeBatch=(seq:number)=>Array.from({length:2},(_,i)=>i+seq).flatMap((e)=>[sampleRasp(1,e,`${e} ${WORDS}`),sampleFcmp(e,`${e} ${WORDS}`)]);
const runs=Number(process.argv[2]??8);
for (let r=0;r<8;r++){
const store = await openStore(`sqlite:${folder}/own-${r}.db`);
const start=performance.now(); const cpu=process.cpuUsage(); let events=0, appends=0;
await Promise.all(Array.from({length:runs},async(_,run)=>{ for(let seq=1;performance.now()-start<1000;seq+=2){const b=makeBatch(seq); await store.append(`01KA3ORDERASKED${String(run).padStart(11,'0')}`,b); events+=b.length; appends++;}}));
const s=performance.now()-start; const c=process.cpuUsage(cpu);
console.log((s*1000/events).toFixed(1),'us/event', ((c.user+c.system)/events).toFixed(1),'cpu us/event', 'user',(c.user/events).toFixed(1));
await store.close();}
