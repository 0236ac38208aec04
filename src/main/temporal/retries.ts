/** How calls to Temporal are tried again, and how that ends. */
import { InterceptingCall, type Interceptor, Metadata, status } from '@grpc/grpc-js';
import { defaultGrpcRetryOptions, makeGrpcRetryInterceptor } from '@temporalio/client';

/**
 * A call on a connection that was closed ends as cancelled. gRPC throws instead, and the client makes the next try of a call from
 * a timer: nothing could catch it, and the caller would wait forever.
 */
const failWhenClosed: Interceptor = (options, nextCall) => {
  try {
    return new InterceptingCall(nextCall(options));
  } catch {
    return new InterceptingCall(cancelledCall());
  }
};

/** Answers as soon as it is started. */
function cancelledCall(): ConstructorParameters<typeof InterceptingCall>[0] {
  return {
    start(_, listener) {
      // As gRPC does it: a call has a message, or null, before its status.
      listener?.onReceiveMessage?.(null);
      listener?.onReceiveStatus?.({
        code: status.CANCELLED,
        details: 'the connection was closed',
        metadata: new Metadata(),
      });
    },
    cancelWithStatus() {},
    sendMessage() {},
    sendMessageWithContext() {},
    startRead() {},
    halfClose() {},
    getPeer: () => 'closed',
    getAuthContext: () => null,
  };
}

/** The client's own way of trying again, that ends when the connection is closed. */
export const retryInterceptors: Interceptor[] = [
  makeGrpcRetryInterceptor(defaultGrpcRetryOptions()),
  failWhenClosed,
];
