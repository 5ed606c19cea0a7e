// Asks a crabhook server with a hook's input, as docs/reference/wire.md says, and prints what it hears.
//
//   node ask.js ADDRESS OPTIONS < INPUT
//
// OPTIONS is a JSON object: `event` fields go to PermissionRequest as they are named in
// permission.proto; `token`, `limit` (bytes that this client takes), `seconds` (its time), `confirm`
// (false: it keeps its receipt) and `proto` (the folder of the .proto files) are this program's own.
//
// It prints a JSON object a line: {"accepted": …}, {"lost": …} at each connection that it lost, and at
// last {"answer": …} or {"status": …}.
'use strict';

const crypto = require('node:crypto');
const fs = require('node:fs');
const path = require('node:path');
const grpc = require('@grpc/grpc-js');
const loader = require('@grpc/proto-loader');

const address = process.argv[2];
const options = JSON.parse(process.argv[3] || '{}');
const folder = options.proto || path.join(__dirname, '..', '..', '..', 'proto');
const definition = loader.loadSync('crabhook/v1/permission.proto', {
  includeDirs: [folder],
  keepCase: true,
  enums: String,
  longs: String,
  // No defaults: what is absent stays absent, as the page asks.
  defaults: false,
});
const { PermissionService } = grpc.loadPackageDefinition(definition).crabhook.v1;
const { status } = grpc;
const AGAIN = [status.UNAVAILABLE, status.CANCELLED, status.INTERNAL, status.RESOURCE_EXHAUSTED];
const deadline = Date.now() + 1000 * (options.seconds || 60);

const ticket = {
  request_id: crypto.randomBytes(16).toString('hex'),
  secret: crypto.randomBytes(16).toString('hex'),
};
const metadata = new grpc.Metadata();
if (options.token) metadata.set('authorization', `Bearer ${options.token}`);

let client = connected(options.limit);

function connected(limit) {
  return new PermissionService(address, grpc.credentials.createInsecure(), {
    'grpc.max_receive_message_length': limit || 4 << 20,
    'grpc.initial_reconnect_backoff_ms': 200,
    'grpc.max_reconnect_backoff_ms': 1000,
  });
}

function print(value) {
  fs.writeSync(1, `${JSON.stringify(value)}\n`);
}

function asked(request) {
  return new Promise((resolve) => {
    const call = client.RequestPermission(request, metadata, { deadline }, (error, answer) => resolve({ error, answer }));
    call.on('metadata', () => print({ accepted: request.request_id }));
  });
}

function confirmed() {
  return new Promise((resolve) => client.ConfirmReply(ticket, metadata, { deadline }, (error) => resolve(error)));
}

function isUntaken(error) {
  return error.code === status.RESOURCE_EXHAUSTED && error.details.startsWith('Received message larger');
}

// A protobuf field of bytes comes as a Buffer.
function readable(name, value) {
  return value && value.type === 'Buffer' ? Buffer.from(value.data).toString('utf8') : value;
}

async function main() {
  const request = {
    platform: 'claude',
    stance: 'STANCE_GATE',
    when_lost: 'deny',
    wait_ms: deadline - Date.now(),
    answer_form: 'ANSWER_FORM_FIELDS',
    ...options.event,
    ...ticket,
    payload: fs.readFileSync(0),
  };
  for (;;) {
    const { error, answer } = await asked(request);
    if (!error) {
      if (answer.confirm && options.confirm !== false) {
        const refused = await confirmed();
        if (refused) print({ unconfirmed: status[refused.code] });
      }
      fs.writeSync(1, `${JSON.stringify({ answer }, readable)}\n`);
      break;
    }
    const untaken = isUntaken(error);
    if (untaken && options.larger) {
      // The answer is kept: the same ticket brings it to a client that takes more.
      print({ lost: status[error.code] });
      client.close();
      client = connected(options.larger);
      request.answer_form = options.then || request.answer_form;
    } else if (AGAIN.includes(error.code) && !untaken && Date.now() < deadline - 1000) {
      print({ lost: status[error.code] });
      await new Promise((resolve) => setTimeout(resolve, 1000));
    } else {
      print({ status: status[error.code], details: error.details });
      break;
    }
  }
  client.close();
}

main();
