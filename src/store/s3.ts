/** Amazon S3, and what speaks its protocol, through AWS's SDK: its ways to credentials are many. */
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
  type S3ClientConfig,
  S3ServiceException,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import type { Opening, StoreSpec } from './opening.ts';
import { atMostObjects, heldAtMost } from './at-most.ts';
import { storeAgents } from './guard.ts';
import type { HttpOptions } from './http.ts';
import type { StoreShare } from './memory.ts';
import { endpointUrl, splitPath } from './names.ts';
import { type ObjectContent, type Store, StoreError, type StoreErrorCode } from './port.ts';
import type { DescribedObject, NewObject, Page, Protocol, UnfinishedUpload, Upload } from './protocol.ts';
import { RemoteStore } from './remote.ts';
import { awsCredentials } from './secrets.ts';
import { connectionError, translationOf, refusal } from './translate.ts';

const PARALLEL = 2;
const CONNECTIONS = 8;

const CODES: Readonly<Record<string, StoreErrorCode>> = {
  NotFound: 'not-found',
  ObjectLocked: 'locked',
  EntityTooLarge: 'full',
  StorageFull: 'full',
  XMinioStorageFull: 'full',
  // Two conditional writes met, and it is not said that the other one has won.
  ConditionalRequestConflict: 'unavailable',
  OperationAborted: 'unavailable',
  PermanentRedirect: 'invalid',
  AuthorizationHeaderMalformed: 'invalid',
  IllegalLocationConstraintException: 'invalid',
  CredentialsProviderError: 'denied',
  SlowDown: 'unavailable',
  RequestTimeout: 'unavailable',
  // VersityGW's word for a key that nobody has.
  XAdminUserNotFound: 'denied',
};

/** AWS and VersityGW deny the access then, and MinIO calls the request invalid: only their messages differ. */
const LOCKED = /protected by object lock|WORM protected/i;

interface S3Options {
  readonly bucket: string;
  /** Absent: AWS. */
  readonly endpoint?: URL | undefined;
  readonly forcePathStyle: boolean;
  readonly region: string | undefined;
  /** Absent: the SDK looks where AWS's tools look, such as the pod's web identity. */
  readonly credentials?: {
    readonly accessKeyId: string;
    readonly secretAccessKey: string;
    readonly sessionToken?: string | undefined;
  };
  readonly secrets: readonly string[];
  readonly http: HttpOptions;
}

/** Opens a bucket of AWS, or of what speaks its language. Sends nothing yet. */
export function openS3(spec: StoreSpec<'S3'>, { secret, http, secrets }: Opening): Store {
  const { bucket } = splitPath(spec.path);
  const credentials = secret && awsCredentials(secret);
  const protocol = new S3Protocol({
    bucket,
    endpoint: spec.endpoint ? endpointUrl(spec.endpoint, '') : undefined,
    forcePathStyle: spec.forcePathStyle ?? false,
    region: spec.region || credentials?.region,
    ...(credentials && { credentials }),
    http,
    secrets,
  });
  return new RemoteStore(protocol, http.memory);
}

class S3Protocol implements Protocol {
  readonly location: string;
  readonly parallel = PARALLEL;
  readonly #bucket: string;
  readonly #client: S3Client;
  readonly #isAws: boolean;
  readonly #translation: ReturnType<typeof translationOf>;

  constructor(options: S3Options) {
    this.#bucket = options.bucket;
    this.location = `s3://${options.bucket}`;
    this.#client = new S3Client(clientConfig(options));
    this.#isAws = options.endpoint === undefined;
    boundAnswers(this.#client, options.http.memory);
    this.#translation = translationOf(CODES, options);
  }

  async head(key: string, abortSignal: AbortSignal): Promise<DescribedObject> {
    const found = await this.#client.send(new HeadObjectCommand(this.#named(key)), { abortSignal });
    return {
      key,
      size: found.ContentLength ?? 0,
      modifiedAt: (found.LastModified ?? new Date(Number.NaN)).toISOString(),
      putId: found.Metadata?.['putid'],
    };
  }

  async get(key: string, offset: number, abortSignal: AbortSignal): Promise<ObjectContent> {
    const range = offset === 0 ? {} : { Range: `bytes=${offset}-` };
    const answer = await this.#client.send(new GetObjectCommand({ ...this.#named(key), ...range }), {
      abortSignal,
    });
    const body = answer.Body as AsyncIterable<Uint8Array> | undefined;
    if (body === undefined)
      throw new StoreError('unavailable', `${this.location}/${key} was returned without content`);
    return { size: offset + (answer.ContentLength ?? Number.NaN), body };
  }

  async page(prefix: string, token: string | undefined, abortSignal: AbortSignal): Promise<Page> {
    const asked = { Bucket: this.#bucket, Prefix: prefix, ContinuationToken: token };
    const page = await this.#client.send(new ListObjectsV2Command(asked), { abortSignal });
    const objects = atMostObjects(page.Contents ?? []).map(({ Key, Size, LastModified }) => ({
      key: Key ?? '',
      size: Size ?? 0,
      modifiedAt: (LastModified ?? new Date(Number.NaN)).toISOString(),
    }));
    if (page.IsTruncated === true && !page.NextContinuationToken) {
      throw new StoreError(
        'other',
        `${this.location} truncates its listing and returns no continuation token`,
      );
    }
    return { objects, next: page.IsTruncated ? page.NextContinuationToken : undefined };
  }

  async delete(key: string, abortSignal: AbortSignal): Promise<void> {
    await this.#client.send(new DeleteObjectCommand(this.#named(key)), { abortSignal });
  }

  async putWhole({ key, putId }: NewObject, bytes: Buffer, abortSignal: AbortSignal): Promise<void> {
    const asked = { ...this.#named(key), IfNoneMatch: '*', Metadata: { putid: putId } };
    const object = { ...asked, Body: bytes, ...this.#checksum(bytes) };
    await this.#client.send(new PutObjectCommand(object), { abortSignal });
  }

  async begin({ key, putId }: NewObject, abortSignal: AbortSignal): Promise<Upload> {
    const asked = { ...this.#named(key), Metadata: { putid: putId } };
    const { UploadId } = await this.#client.send(new CreateMultipartUploadCommand(asked), { abortSignal });
    const upload = { ...this.#named(key), UploadId: UploadId ?? '' };
    const parts: { PartNumber: number; ETag: string | undefined; [checksum: string]: unknown }[] = [];
    return {
      part: async ({ number, bytes }, within) => {
        const part = { ...upload, PartNumber: number, Body: bytes, ...this.#checksum(bytes) };
        const { ETag, ChecksumCRC32 } = await this.#client.send(new UploadPartCommand(part), {
          abortSignal: within,
        });
        parts[number - 1] = { PartNumber: number, ETag, ...(ChecksumCRC32 && { ChecksumCRC32 }) };
      },
      commit: async within => {
        const whole = { ...upload, MultipartUpload: { Parts: parts }, IfNoneMatch: '*' };
        await this.#client.send(new CompleteMultipartUploadCommand(whole), { abortSignal: within });
      },
      abort: within => this.#abort(upload, within),
    };
  }

  async *unfinished(prefix: string, abortSignal: AbortSignal): AsyncGenerator<UnfinishedUpload> {
    let markers: { KeyMarker?: string | undefined; UploadIdMarker?: string | undefined } = {};
    for (;;) {
      const asked = { Bucket: this.#bucket, Prefix: prefix, ...markers };
      const page = await this.#client.send(new ListMultipartUploadsCommand(asked), { abortSignal });
      for (const { Key = '', UploadId = '', Initiated } of page.Uploads ?? []) {
        const upload = { ...this.#named(Key), UploadId };
        yield {
          key: Key,
          begunAt: Initiated?.getTime() ?? Date.now(),
          abort: within => this.#abort(upload, within),
        };
      }
      if (page.IsTruncated !== true) return;
      markers = { KeyMarker: page.NextKeyMarker, UploadIdMarker: page.NextUploadIdMarker };
    }
  }

  translate(error: unknown, what: string): StoreError {
    if (error instanceof StoreError) return error;
    if (!(error instanceof S3ServiceException)) {
      if (!isCredentialsError(error)) return connectionError(error, what, this.#translation);
      const message = `${what} failed: no credentials were found; name a Secret, or configure an identity for the pod`;
      return new StoreError('denied', message);
    }
    const { name, message, $metadata } = error;
    const status = $metadata.httpStatusCode ?? 0;
    // Answers without a body, such as all to HEAD, have no name of their own.
    const code = /^(Unknown|UnknownError|\d+)$/.test(name) ? '' : name;
    // The SDK takes any markup for an error of S3; what speaks S3 numbers its answers.
    const isTheirs = code !== '' && $metadata.requestId !== undefined;
    return refusal(
      {
        status,
        code: LOCKED.test(message) ? 'ObjectLocked' : code,
        message: isTheirs ? message : '',
        skewed: false,
      },
      what,
      this.#translation,
    );
  }

  async close(): Promise<void> {
    this.#client.destroy();
  }

  async #abort(
    upload: { readonly Bucket: string; readonly Key: string; readonly UploadId: string },
    abortSignal: AbortSignal,
  ): Promise<void> {
    await this.#client.send(new AbortMultipartUploadCommand(upload), { abortSignal });
  }

  /** A bucket with object lock takes nothing without a checksum. Every server knows this one; to AWS the SDK sends another one. */
  #checksum(bytes: Uint8Array): { readonly ContentMD5?: string } {
    return this.#isAws ? {} : { ContentMD5: createHash('md5').update(bytes).digest('base64') };
  }

  #named(key: string): { readonly Bucket: string; readonly Key: string } {
    return { Bucket: this.#bucket, Key: key };
  }
}

/**
 * Silence is bounded by the sockets' idle time: the SDK's request timeout alone only warns. Checksums as headers only where
 * AWS itself is spoken to: other servers may not know them.
 */
function clientConfig(options: S3Options): S3ClientConfig {
  const { endpoint, region, credentials, http } = options;
  const checksums = endpoint === undefined ? 'WHEN_SUPPORTED' : 'WHEN_REQUIRED';
  return {
    ...(endpoint && { endpoint: endpoint.href }),
    forcePathStyle: options.forcePathStyle,
    // Without one the SDK looks for it; other servers take any.
    ...((region ?? endpoint) !== undefined && { region: region ?? 'us-east-1' }),
    followRegionRedirects: endpoint === undefined,
    ...(credentials && {
      credentials: {
        accessKeyId: credentials.accessKeyId,
        secretAccessKey: credentials.secretAccessKey,
        ...(credentials.sessionToken && { sessionToken: credentials.sessionToken }),
      },
    }),
    maxAttempts: http.attempts,
    requestChecksumCalculation: checksums,
    responseChecksumValidation: checksums,
    // Plain settings of the SDK's own handler.
    requestHandler: {
      connectionTimeout: http.silenceMs,
      socketTimeout: http.silenceMs,
      ...storeAgents(http, CONNECTIONS),
    },
  };
}

/** The SDK reads every answer as one text, however long it is, but for the content of an object. */
function boundAnswers({ middlewareStack }: S3Client, memory: StoreShare): void {
  middlewareStack.add(
    (next, { commandName }) =>
      async asked => {
        const result = await next(asked);
        const response = result.response as { statusCode: number; body?: unknown };
        const isContent = commandName === 'GetObjectCommand' && response.statusCode < 300;
        if (!isContent && response.body instanceof Readable)
          response.body = Readable.from(heldAtMost(response.body, memory));
        return result;
      },
    // Next to the connection, before anything is read.
    { step: 'deserialize', priority: 'low' },
  );
}

function isCredentialsError(error: unknown): boolean {
  return (
    error instanceof Error && /^(CredentialsProviderError|TokenProviderError|ProviderError)$/.test(error.name)
  );
}
