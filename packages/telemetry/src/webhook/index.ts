export {
  createRequestWebhook,
  type RequestWebhookOptions,
  type RequestWebhookPayload,
} from './request-webhook.ts'
